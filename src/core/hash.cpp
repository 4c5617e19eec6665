#include <array>
#include <bloomset/hash.hpp>
#include <charconv>
#include <cmath>

#include "core/siphash/kernels.hpp"
#include "core/system.hpp"
#include "cpu/dispatch.hpp"

namespace bloomset {
namespace {

#include "core/siphash/rounds.inl"

void hash_each(const hash_key& key, std::span<const std::span<const std::byte>> keys,
               hash64* hashes) noexcept {
  for (const auto one : keys) *hashes++ = siphash(key, one);
}

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

const detail::siphash_kernels detail::siphash_kernels::scalar{hash_each};

hash64 siphash(const hash_key& key, std::span<const std::byte> bytes) noexcept {
  sip_state<std::uint64_t> state(key);
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    state.absorb(detail::load<std::uint64_t>(bytes.data() + at));
  }
  state.absorb(detail::siphash_last_word(bytes.data(), bytes.size()));
  return {state.finish()};
}

void filter_hasher::operator()(std::span<const std::span<const std::byte>> keys,
                               hash64* hashes) const noexcept {
  if (seed_.is_keyed()) {
    detail::chosen_kernels<detail::siphash_kernels>().hash(seed_.key(), keys, hashes);
    return;
  }
  const xxh3_hasher hash(seed_.value());
  for (const auto key : keys) *hashes++ = hash(key);
}

hash32_pair fnv_murmur_hasher::operator()(std::span<const std::byte> bytes) const noexcept {
  return {fnv1_in_doubles(bytes), murmur2(bytes)};
}

hash_seed::hash_seed(const hash_key& key) noexcept
    : value_(siphash(key, bytes_of("bloomset hash key")).value), key_(key), is_keyed_(true) {}

hash_seed hash_seed::half(unsigned number) const noexcept {
  if (number == 0) return *this;
  if (!is_keyed_) return {value_ ^ 0x9e3779b97f4a7c15};
  return hash_key{{siphash(key_, bytes_of("bloomset second key 0")).value,
                   siphash(key_, bytes_of("bloomset second key 1")).value}};
}

std::string_view name_of(hash_id hash) noexcept {
  constexpr std::array<std::string_view, 6> names = {"none",    "xxh3",      "fnv-murmur",
                                                     "siphash", "xxh3-2x64", "siphash-2x64"};
  const auto number = static_cast<std::size_t>(hash);
  return number < names.size() ? names[number] : "unknown";
}

result<void> detail::check_keyed_hasher(const hash_seed& seed, bool takes_keys) {
  if (takes_keys || !seed.is_keyed()) return {};
  return fail(errc::unsupported,
              "this probe rule hashes keys by itself and takes no secret key; use double hashing");
}

std::optional<hash_key> hash_key::parse(std::string_view digits) noexcept {
  std::array<std::byte, size> bytes{};
  if (digits.size() != 2 * size) return std::nullopt;
  for (std::size_t i = 0; i < size; ++i) {
    std::uint8_t byte = 0;
    const char* const end = digits.data() + 2 * i + 2;
    const auto read = std::from_chars(end - 2, end, byte, 16);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    bytes[i] = std::byte{byte};
  }
  return of(bytes);
}

std::string hash_key::digits() const {
  constexpr std::string_view digit = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes()) {
    text += digit[std::to_integer<unsigned>(byte) >> 4];
    text += digit[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

result<hash_key> new_hash_key() {
  const hash_key key{{detail::random_bits(), detail::random_bits()}};
  if (key.words[0] == 0 || key.words[1] == 0) {
    return fail(errc::io, "the operating system gave no random bits for a key; try again");
  }
  return key;
}

}  // namespace bloomset
