#include <bloomery/hash.hpp>
#include <cmath>

namespace bloomery {
namespace {

// FNV-1 as a script engine computes it: the product is a double (53 bits), and the exclusive-or
// takes it modulo 2^32 as a signed number.
std::uint32_t fnv1_in_doubles(std::span<const std::byte> bytes) noexcept {
  constexpr double offset_basis = 2166136261.0;
  constexpr double prime = 16777619.0;
  constexpr double two_32 = 4294967296.0;
  double hash = offset_basis;
  for (const std::byte byte : bytes) {
    double word = std::fmod(std::trunc(hash * prime), two_32);
    if (word < 0) word += two_32;
    const std::uint32_t bits =
        static_cast<std::uint32_t>(word) ^ std::to_integer<std::uint32_t>(byte);
    hash = static_cast<double>(static_cast<std::int32_t>(bits));
  }
  return static_cast<std::uint32_t>(std::fabs(hash));
}

// MurmurHash2, 32 bits (Austin Appleby, 2008), seed 0.
std::uint32_t murmur2(std::span<const std::byte> bytes) noexcept {
  constexpr std::uint32_t m = 0x5bd1e995;
  auto hash = static_cast<std::uint32_t>(bytes.size());
  while (bytes.size() >= 4) {
    auto word = detail::load<std::uint32_t>(bytes.data());
    word *= m;
    word ^= word >> 24;
    word *= m;
    hash = (hash * m) ^ word;
    bytes = bytes.subspan(4);
  }
  for (std::size_t i = bytes.size(); i-- > 0;) {
    hash ^= std::to_integer<std::uint32_t>(bytes[i]) << (8 * i);
  }
  if (!bytes.empty()) hash *= m;
  hash ^= hash >> 13;
  hash *= m;
  hash ^= hash >> 15;
  return hash;
}

}  // namespace

hash32_pair fnv_murmur_hasher::operator()(std::span<const std::byte> bytes) const noexcept {
  return {fnv1_in_doubles(bytes), murmur2(bytes)};
}

}  // namespace bloomery
