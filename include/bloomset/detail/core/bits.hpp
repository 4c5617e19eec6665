#pragma once

// Arithmetic on 64-bit words, arrays of bits, and access to memory: unaligned, little-endian, ahead
// of time. No other header depends on byte order.

#include <bloomset/detail/core/language.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace bloomset::detail {

static_assert(std::endian::native == std::endian::little,
              "payloads are little-endian and are used in place; a big-endian port has to swap");

/// The upper 64 bits of a product. It maps a uniform x to [0, n) for any n without a division
/// (Lemire, "Fast Random Integer Generation in an Interval", 2019).
constexpr std::uint64_t mulhi64(std::uint64_t x, std::uint64_t n) noexcept {
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<wide>(x) * n) >> 64);
}

/// Multipliers that spread the bits of a word. Bytes of files depend on them.
///
/// The golden ratio: 2^64 / phi, rounded to odd (Knuth, volume 3, 6.4).
inline constexpr std::uint64_t golden64 = 0x9e3779b97f4a7c15;
/// The two of SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators",
/// 2014).
inline constexpr std::uint64_t first_mix64 = 0xbf58476d1ce4e5b9;
inline constexpr std::uint64_t second_mix64 = 0x94d049bb133111eb;
/// That of remix64().
inline constexpr std::uint64_t remix_factor64 = 0x0e9846af9b1a615d;

/// A bijection of 64-bit words in which each output bit depends on every input bit. It has the form
/// of MurmurHash3's finalizer with the constants that Jon Maiga found ("Improved mx3 and the RRC
/// test", 2020). boost::hash_combine uses them too.
constexpr std::uint64_t remix64(std::uint64_t x) noexcept {
  x ^= x >> 32;
  x *= remix_factor64;
  x ^= x >> 32;
  x *= remix_factor64;
  x ^= x >> 28;
  return x;
}

template <class Word>
Word load(const std::byte* from) noexcept {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

template <class Word>
void store(std::byte* to, Word word) noexcept {
  std::memcpy(to, &word, sizeof word);
}

/// Starts to load the cache line of `address`, for reading, or for writing if `Write` is 1.
/// `Level` 2 loads it into the second-level cache: a core can have several times as many of these
/// loads under way, so batches use it. `Level` 1 is for a single key, whose line is used at once.
///
/// The empty volatile statement is not an instruction. It keeps g++ 12 from deleting calls of
/// functions that only prefetch (docs/maintain/decisions/cpu/prefetch.md).
template <int Write = 0, int Level = 2>
[[gnu::always_inline]] inline void prefetch_line(const void* address) noexcept {
  static_assert(Level == 1 || Level == 2);
  __builtin_prefetch(address, Write, 4 - Level);
  asm volatile("");
}

/// The number of ones in a word. In programs for every CPU of an architecture std::popcount may be
/// a function that looks up each byte, which takes twice as long. With -march=native compilers make
/// an instruction of this, too (H. S. Warren, "Hacker's Delight", 5-1).
constexpr unsigned count_ones(std::uint64_t x) noexcept {
  x = x - ((x >> 1) & 0x5555555555555555);
  x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333);
  return static_cast<unsigned>((((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101) >> 56);
}

/// The place of one number k (from 0) of a word. Precondition: the word has more than k ones.
/// Sideways sums of bytes find the byte (Vigna, "Broadword Implementation of Rank/Select Queries",
/// 2008).
constexpr unsigned select_one(std::uint64_t x, unsigned k) noexcept {
  constexpr std::uint64_t ones = 0x0101010101010101;
  std::uint64_t sums = x - ((x >> 1) & 0x5555555555555555);
  sums = (sums & 0x3333333333333333) + ((sums >> 2) & 0x3333333333333333);
  sums = ((sums + (sums >> 4)) & 0x0f0f0f0f0f0f0f0f) * ones;
  const std::uint64_t at_most = (((k * ones) | (ones << 7)) - sums) & (ones << 7);
  const auto byte = static_cast<unsigned>(((at_most >> 7) * ones) >> 56) * 8;
  unsigned left = k - static_cast<unsigned>((sums << 8) >> byte & 0xff);
  std::uint64_t here = x >> byte;
  for (; left != 0; --left) here &= here - 1;
  return byte + static_cast<unsigned>(std::countr_zero(here));
}

/// std::min and std::max. <algorithm> takes longer to compile than this header.
template <class T>
constexpr T min(const T& a, const T& b) noexcept {
  return b < a ? b : a;
}
template <class T>
constexpr T max(const T& a, const T& b) noexcept {
  return a < b ? b : a;
}

/// Bytes of the second-level cache of a core, or 512 KiB, the least of common CPUs, if the system
/// does not tell.
extern const std::size_t second_level_cache;

/// Whether prefetches pay in a filter of several lines per key, whose loads overlap more.
inline bool is_far_for_many_lines(std::uint64_t bytes) noexcept {
  return bytes > 4 * second_level_cache;
}

/// Calls `use(i)` for each i below n, in order. If the filter `is_far` from the core, `prefetch(i)`
/// is called before `use(i)`, up to a group earlier. In a filter that is near, a core overlaps the
/// loads by itself, and prefetches only take time (docs/maintain/decisions/cpu/prefetch.md).
template <class Prefetch, class Use>
void in_groups(std::size_t n, bool is_far, Prefetch&& prefetch, Use&& use) noexcept {
  constexpr std::size_t group = 32;
  if (!is_far) {
    for (std::size_t i = 0; i < n; ++i) use(i);
    return;
  }
  for (std::size_t first = 0; first < n; first += group) {
    const std::size_t last = min(n, first + group);
    for (std::size_t i = first; i < last; ++i) prefetch(i);
    for (std::size_t i = first; i < last; ++i) use(i);
  }
}

inline bool is_zero(std::span<const std::byte> bytes) noexcept {
  // The first byte is zero, and every other equals the one before it.
  return bytes.empty() || (bytes[0] == std::byte{0} &&
                           std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}
inline void fill_zero(std::span<std::byte> bytes) noexcept {
  if (!bytes.empty()) std::memset(bytes.data(), 0, bytes.size());
}

/// The smallest multiple of `unit` (a power of two) that is at least n. Precondition: n <= 2^64 -
/// unit.
constexpr std::uint64_t round_up(std::uint64_t n, std::uint64_t unit) noexcept {
  return (n + unit - 1) & ~(unit - 1);
}

/// The number of bytes that hold n bits, for every n up to 2^64 - 1.
constexpr std::uint64_t bytes_for_bits(std::uint64_t n) noexcept {
  return n / 8 + (n % 8 != 0);
}

// m bits in bytes: bit p is bit p mod 8 of byte p / 8. Every bit array in a payload has this
// layout.

inline bool test_bit(const std::byte* bits, std::uint64_t p) noexcept {
  return (std::to_integer<unsigned>(bits[p >> 3]) >> (p & 7) & 1U) != 0;
}

/// Sets a bit. Returns whether it was clear.
inline bool set_bit(std::byte* bits, std::uint64_t p) noexcept {
  const auto mask = static_cast<std::byte>(1U << (p & 7));
  const bool was_clear = (bits[p >> 3] & mask) == std::byte{0};
  bits[p >> 3] |= mask;
  return was_clear;
}

inline std::uint64_t count_ones(std::span<const std::byte> bits) noexcept {
  std::uint64_t ones = 0;
  std::size_t at = 0;
  for (; at + 8 <= bits.size(); at += 8) {
    ones += count_ones(load<std::uint64_t>(bits.data() + at));
  }
  for (; at < bits.size(); ++at) {
    ones += count_ones(std::to_integer<unsigned>(bits[at]));
  }
  return ones;
}

/// Whether the bits of the last byte beyond m are zero. Precondition: m > 0.
inline bool padding_is_zero(std::span<const std::byte> bits, std::uint64_t m) noexcept {
  return m % 8 == 0 || std::to_integer<unsigned>(bits.back()) >> (m % 8) == 0;
}

}  // namespace bloomset::detail
