#pragma once

// The rule from a hash to its window in a ribbon filter and to its equation: the specification, in
// scalar code. y is the hash of a key at a level (ribbon_hash). docs/reference/format.md ("ribbon")
// has the rule in words.
//
// In BuRR (P. Dillinger, L. Huebschle-Schneider, P. Sanders, S. Walzer, "Fast Succinct Retrieval
// and Approximate Membership Using Ribbon", 2022) a window begins at any slot. Here it begins at a
// multiple of 8 slots, a group, which has one byte per column. A query of r columns reads 8 r
// adjacent bytes and needs no shifts. This costs 0.1% in slots.

#include <bloomset/detail/core/bits.hpp>
#include <bloomset/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomset::detail {

/// A window has 8 groups of 8 slots.
inline constexpr std::uint64_t ribbon_window_groups = 8;
/// Zeros at the end of the payload, so that vectors may read beyond a window.
inline constexpr std::uint64_t ribbon_padding = 64;

/// The code of a bucket gives the number of its 16 starts that are bumped, from the first on. A key
/// whose window begins at a bumped start is in the next level. The four possible numbers were found
/// by measurement.
inline constexpr std::uint64_t bucket_starts = 16;
constexpr unsigned bumped_starts(unsigned code) noexcept {
  return (0x10050200U >> (8 * code)) & 0xff;
}

/// The hash of a key at a level, from its hash at the level before. A bijection, so that distinct
/// hashes stay distinct.
constexpr std::uint64_t ribbon_hash(std::uint64_t before, std::uint64_t seed) noexcept {
  return seed == 0 ? before : remix64(before ^ seed);
}

/// The row of a key's equation: bit i is the coefficient of slot i of its window. A bijection.
constexpr std::uint64_t ribbon_row(std::uint64_t y) noexcept {
  const std::uint64_t c = y * 0x9e3779b97f4a7c15;
  return c ^ (c >> 32);
}

/// The right side of a key's equation, of which the lowest r bits are used. It is not a linear
/// function of the row, so that a non-member passes with probability 2^-r.
constexpr std::uint32_t ribbon_result(std::uint64_t y) noexcept {
  return static_cast<std::uint32_t>(((y ^ (y >> 29)) * 0xbf58476d1ce4e5b9) >> 32);
}

constexpr std::uint32_t ribbon_mask(std::uint32_t columns) noexcept {
  return static_cast<std::uint32_t>((std::uint64_t{1} << columns) - 1);
}

/// A level for queries: its shape, and its sections as offsets in the payload.
struct ribbon_level_view {
  std::uint64_t seed;
  std::uint64_t shards;
  std::uint64_t starts;
  std::uint64_t cut;
  std::uint64_t lower_at;  ///< group g below the cut is at lower_at + columns g
  std::uint64_t upper_at;  ///< group g above it is at upper_at + (columns + 1) g, modulo 2^64
  std::uint64_t codes_at;
  std::uint64_t code_mask;  ///< 0 in a level that does not bump, where codes_at is a zero
  std::uint32_t columns;
};

/// The place of a key at a level.
struct ribbon_place {
  const std::byte* window;
  const std::byte* code;  ///< the byte with the code of its bucket
  std::uint32_t start;    ///< modulo 64: among the starts of four buckets
  std::uint32_t columns;
};

/// The start in shard mulhi64(y, shards): the lower half of y * shards is uniform again.
inline std::uint64_t ribbon_start_of(std::uint64_t y, std::uint64_t shards,
                                     std::uint64_t starts) noexcept {
  return mulhi64(y * shards, starts);
}

inline ribbon_place ribbon_place_of(const std::byte* payload, const ribbon_level_view& level,
                                    std::uint64_t y) noexcept {
  const std::uint64_t shard = mulhi64(y, level.shards);
  const std::uint64_t start = shard * level.starts + ribbon_start_of(y, level.shards, level.starts);
  const bool upper = start >= level.cut;
  const std::uint32_t columns = level.columns + upper;
  const std::uint64_t group = start + (ribbon_window_groups - 1) * shard;
  return {payload + ((upper ? level.upper_at : level.lower_at) + group * columns),
          payload + (level.codes_at + ((start / (4 * bucket_starts)) & level.code_mask)),
          static_cast<std::uint32_t>(start % (4 * bucket_starts)), columns};
}

inline bool ribbon_bumped(const ribbon_place& place) noexcept {
  const unsigned bucket = place.start / bucket_starts;
  const unsigned code = (std::to_integer<unsigned>(*place.code) >> (2 * bucket)) & 3;
  return place.start % bucket_starts < bumped_starts(code);
}

/// The XOR of the window's slots that the row selects: bit c is the parity of column c. A word has
/// a byte of eight columns; a multiplication gathers their parities. Reads up to 8 bytes beyond the
/// window.
inline std::uint32_t ribbon_value(const std::byte* window, std::uint32_t columns,
                                  std::uint64_t row) noexcept {
  constexpr std::uint64_t byte_ones = 0x0101010101010101;
  std::uint32_t value = 0;
  for (std::uint32_t first = 0; first < columns; first += 8) {
    std::uint64_t sum = 0;
    for (unsigned group = 0; group < 8; ++group) {
      const std::uint64_t mask = ((row >> (8 * group)) & 0xff) * byte_ones;
      sum ^= load<std::uint64_t>(window + std::size_t{group} * columns + first) & mask;
    }
    sum ^= sum >> 4;
    sum ^= sum >> 2;
    sum ^= sum >> 1;
    value |= static_cast<std::uint32_t>(((sum & byte_ones) * 0x0102040810204080) >> 56) << first;
  }
  return value & ribbon_mask(columns);
}

/// Whether the equation of hash y holds at its place.
inline bool ribbon_equation_holds(const ribbon_place& place, std::uint64_t y) noexcept {
  return ribbon_value(place.window, place.columns, ribbon_row(y)) ==
         (ribbon_result(y) & ribbon_mask(place.columns));
}

/// Answers a single key at the first level where it is not bumped.
inline bool ribbon_may_contain(const std::byte* payload, std::span<const ribbon_level_view> levels,
                               hash64 h) noexcept {
  std::uint64_t y = h.value;
  for (const ribbon_level_view& level : levels) {
    y = ribbon_hash(y, level.seed);
    const ribbon_place place = ribbon_place_of(payload, level, y);
    if (!ribbon_bumped(place)) return ribbon_equation_holds(place, y);
  }
  return false;
}

}  // namespace bloomset::detail
