#include "teach/rules.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

namespace bloomset::teach {
namespace {

using md5_state = std::array<std::uint32_t, 4>;
constexpr std::size_t md5_block = 64;

// The constants of the 64 steps: floor(2^32 |sin(i + 1)|), i + 1 in radians.
constexpr std::array<std::uint32_t, 64> md5_sines = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

// One block (R. Rivest, RFC 1321, section 3.4).
void add_block(md5_state& sum, const std::byte* block) noexcept {
  constexpr std::array<std::array<int, 4>, 4> shifts = {
      {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}};
  auto [a, b, c, d] = sum;
  for (unsigned i = 0; i < 64; ++i) {
    std::uint32_t mixed = 0;
    unsigned word = 0;
    switch (i / 16) {
      case 0:
        mixed = (b & c) | (~b & d);
        word = i;
        break;
      case 1:
        mixed = (d & b) | (~d & c);
        word = (5 * i + 1) % 16;
        break;
      case 2:
        mixed = b ^ c ^ d;
        word = (3 * i + 5) % 16;
        break;
      default:
        mixed = c ^ (b | ~d);
        word = 7 * i % 16;
    }
    const auto message = detail::load<std::uint32_t>(block + std::size_t{4} * word);
    const std::uint32_t turned =
        std::rotl(a + mixed + message + md5_sines[i], shifts[i / 16][i % 4]);
    a = d;
    d = c;
    c = b;
    b += turned;
  }
  sum = {sum[0] + a, sum[1] + b, sum[2] + c, sum[3] + d};
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

hash32_pair fnv_murmur_hasher::operator()(std::span<const std::byte> bytes) const noexcept {
  return {fnv1_in_doubles(bytes), murmur2(bytes)};
}

std::uint64_t md5_hashing::word(key_ref key, unsigned i) noexcept {
  md5_state sum = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  auto rest = key.bytes;
  for (; rest.size() >= md5_block; rest = rest.subspan(md5_block)) add_block(sum, rest.data());
  // The last one or two blocks: the remainder of the key, the digits, a one bit, zeros, and the
  // length in bits (RFC 1321, sections 3.1 and 3.2).
  std::array<std::byte, 2 * md5_block> end{};
  auto* at = std::copy(rest.begin(), rest.end(), end.data());
  const std::string digits = std::to_string(i);
  at = std::ranges::copy(std::as_bytes(std::span(digits)), at).out;
  *at++ = std::byte{0x80};
  const auto used = static_cast<std::size_t>(at - end.data());
  const std::size_t size = used + sizeof(std::uint64_t) <= md5_block ? md5_block : 2 * md5_block;
  const std::uint64_t length = key.bytes.size() + digits.size();
  detail::store<std::uint64_t>(end.data() + size - sizeof(std::uint64_t), 8 * length);
  for (std::size_t block = 0; block < size; block += md5_block) add_block(sum, end.data() + block);
  // The digest is the state in little-endian order. Its first eight bytes are read big-endian.
  const std::uint64_t digest = sum[0] | std::uint64_t{sum[1]} << 32;
  return __builtin_bswap64(digest);
}

}  // namespace bloomset::teach
