#pragma once

// Where a ribbon filter's keys are, and what is stored for them: the specification, in scalar code.
// P. Dillinger, L. Huebschle-Schneider, P. Sanders, S. Walzer, "Fast Succinct Retrieval and
// Approximate Membership Using Ribbon", 2022. Ours differs in that a window begins at a multiple of
// 8 slots: the slots of a group lie in one byte a column, so that a query of r columns reads 8 r
// adjacent bytes and shifts nothing. It costs 0.1% in slots.

#include <bloomery/detail/core/bits.hpp>
#include <bloomery/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::detail {

/// A window is 8 groups of 8 slots, and begins at a group.
inline constexpr std::uint64_t ribbon_window_groups = 8;
/// Zeros at the end of the payload, which vectors may read over.
inline constexpr std::uint64_t ribbon_padding = 64;

/// A bucket's code says how many of its 16 starts are bumped, from its first on: all keys whose
/// window begins there are in the next level. The values were found by measurement.
inline constexpr std::uint64_t bucket_starts = 16;
constexpr unsigned bumped_starts(unsigned code) noexcept {
  return (0x10050200U >> (8 * code)) & 0xff;
}

/// A key's hash at a level, from its own (level 0) or the one at the level before. A bijection, so
/// that distinct hashes stay distinct.
constexpr std::uint64_t ribbon_hash(std::uint64_t before, std::uint64_t seed) noexcept {
  return seed == 0 ? before : remix64(before ^ seed);
}

/// A key's equation: bit i says whether slot i of its window takes part. A bijection.
constexpr std::uint64_t ribbon_row(std::uint64_t y) noexcept {
  const std::uint64_t c = y * 0x9e3779b97f4a7c15;
  return c ^ (c >> 32);
}

/// What the equation's slots add up to (XOR), of which the lowest r bits are used: no linear
/// function of the row's bits, so that a stranger's passes with probability 2^-r.
constexpr std::uint32_t ribbon_result(std::uint64_t y) noexcept {
  return static_cast<std::uint32_t>(((y ^ (y >> 29)) * 0xbf58476d1ce4e5b9) >> 32);
}

constexpr std::uint32_t ribbon_mask(std::uint32_t columns) noexcept {
  return static_cast<std::uint32_t>((std::uint64_t{1} << columns) - 1);
}

/// A level as a query needs it: its shape, and its sections as offsets in the payload.
struct ribbon_level_view {
  std::uint64_t seed;
  std::uint64_t shards;
  std::uint64_t starts;
  std::uint64_t cut;
  std::uint64_t lower_at;  ///< of group g below the cut: lower_at + columns g
  std::uint64_t upper_at;  ///< of group g above it: upper_at + (columns + 1) g, modulo 2^64
  std::uint64_t codes_at;
  std::uint64_t code_mask;  ///< 0 where nothing is bumped: then codes_at is that of a zero
  std::uint32_t columns;
};

/// Where a key is at a level.
struct ribbon_place {
  const std::byte* window;
  const std::byte* code;  ///< the byte with its bucket's code
  std::uint32_t start;    ///< among those of four buckets, modulo 64
  std::uint32_t columns;
};

inline std::uint64_t ribbon_shard_of(std::uint64_t y, std::uint64_t shards) noexcept {
  return mulhi64(y, shards);
}
/// The start in the shard: what of the product is below the shard's number is uniform again.
inline std::uint64_t ribbon_start_of(std::uint64_t y, std::uint64_t shards,
                                     std::uint64_t starts) noexcept {
  return mulhi64(y * shards, starts);
}

inline ribbon_place ribbon_place_of(const std::byte* payload, const ribbon_level_view& level,
                                    std::uint64_t y) noexcept {
  const std::uint64_t shard = ribbon_shard_of(y, level.shards);
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

/// The XOR of a window's slots under a row: bit c is the parity of column c. Eight columns at a
/// time in the bytes of a word, whose parities a multiplication then gathers. Reads up to 8 bytes
/// beyond the window.
inline std::uint32_t ribbon_value(const std::byte* window, std::uint32_t columns,
                                  std::uint64_t row) noexcept {
  constexpr std::uint64_t each_byte = 0x0101010101010101;
  std::uint32_t value = 0;
  for (std::uint32_t first = 0; first < columns; first += 8) {
    std::uint64_t sum = 0;
    for (unsigned group = 0; group < 8; ++group) {
      const std::uint64_t mask = ((row >> (8 * group)) & 0xff) * each_byte;
      sum ^= load<std::uint64_t>(window + std::size_t{group} * columns + first) & mask;
    }
    sum ^= sum >> 4;
    sum ^= sum >> 2;
    sum ^= sum >> 1;
    value |= static_cast<std::uint32_t>(((sum & each_byte) * 0x0102040810204080) >> 56) << first;
  }
  return value & ribbon_mask(columns);
}

/// Whether the key of hash y has its result at that place.
inline bool ribbon_holds(const ribbon_place& place, std::uint64_t y) noexcept {
  return ribbon_value(place.window, place.columns, ribbon_row(y)) ==
         (ribbon_result(y) & ribbon_mask(place.columns));
}

/// A single key: level after level up to the one where it is not bumped.
inline bool ribbon_may_contain(const std::byte* payload, std::span<const ribbon_level_view> levels,
                               hash64 h) noexcept {
  std::uint64_t y = h.value;
  for (const ribbon_level_view& level : levels) {
    y = ribbon_hash(y, level.seed);
    const ribbon_place place = ribbon_place_of(payload, level, y);
    if (!ribbon_bumped(place)) return ribbon_holds(place, y);
  }
  return false;
}

}  // namespace bloomery::detail
