#pragma once

// Static retrieval: a function from n known hashes to r bits each, and anything for other hashes.
// This is the rule from a hash to its window and to its equation: the specification, in scalar
// code. y is the hash of a key at a level (retrieval_hash). docs/reference/format.md has the rule
// in words: "ribbon" for windows of 64 slots.
//
// In BuRR (P. Dillinger, L. Huebschle-Schneider, P. Sanders, S. Walzer, "Fast Succinct Retrieval
// and Approximate Membership Using Ribbon", 2022) a window begins at any slot. Here it begins at a
// multiple of 8 slots, a group, which has one byte per column. A query of r columns reads W r / 8
// adjacent bytes for a window of W slots, and needs no shifts. This costs 0.1% in slots.

#include <bloomset/detail/core/bits.hpp>
#include <bloomset/detail/core/byte_interval.hpp>
#include <bloomset/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomset::detail {

/// Zeros at the end of the payload, so that vectors may read beyond a window.
inline constexpr std::uint64_t retrieval_padding = 64;

/// The row of a key's equation for the first 64 slots of its window: bit i is the coefficient of
/// slot i. A bijection.
constexpr std::uint64_t retrieval_row(std::uint64_t y) noexcept {
  const std::uint64_t c = y * golden64;
  return c ^ (c >> 32);
}

/// The same for slots 64 to 127.
constexpr std::uint64_t retrieval_upper_row(std::uint64_t y) noexcept {
  const std::uint64_t c = (y ^ (y >> 31)) * 0xd6e8feb86659fd93;
  return c ^ (c >> 32);
}

/// Windows of 64 slots. The code of a bucket gives the number of its starts that are bumped, from
/// the first on. A key whose window begins at a bumped start is in the next level. The four
/// possible numbers were found by measurement.
struct window_64 {
  static constexpr unsigned groups = 8;
  static constexpr unsigned bucket_starts = 16;
  static constexpr unsigned bumped_starts(unsigned code) noexcept {
    return (0x10050200U >> (8 * code)) & 0xff;
  }
};

/// Windows of 128 slots. They need a quarter of the codes, for about twice the time of a build.
struct window_128 {
  static constexpr unsigned groups = 16;
  static constexpr unsigned bucket_starts = 64;
  static constexpr unsigned bumped_starts(unsigned code) noexcept {
    return (0x400c0500U >> (8 * code)) & 0xff;
  }
};

/// The hash of a key at a level, from its hash at the level before. A bijection, so that distinct
/// hashes stay distinct.
constexpr std::uint64_t retrieval_hash(std::uint64_t before, std::uint64_t seed) noexcept {
  return seed == 0 ? before : remix64(before ^ seed);
}

/// A fingerprint, of which the lowest r bits are used. It is not a linear function of the row, so
/// that the value retrieved for a non-member is its fingerprint with probability 2^-r.
constexpr std::uint32_t fingerprint_of(std::uint64_t y) noexcept {
  return static_cast<std::uint32_t>(((y ^ (y >> 29)) * first_mix64) >> 32);
}

constexpr std::uint32_t column_mask(std::uint32_t columns) noexcept {
  return static_cast<std::uint32_t>((std::uint64_t{1} << columns) - 1);
}

/// A level for queries: its shape, and its sections as offsets in the payload.
struct retrieval_level_view {
  std::uint64_t seed;
  std::uint64_t shards;
  std::uint64_t starts;
  std::uint64_t cut;
  std::uint64_t cut_group;  ///< the first group with one more column, or the number of groups
  std::uint64_t lower_at;   ///< group g below it is at lower_at + columns g
  std::uint64_t upper_at;   ///< group g from it on is at upper_at + (columns + 1) g, modulo 2^64
  std::uint64_t codes_at;
  std::uint64_t code_mask;  ///< 0 in a level that does not bump, where codes_at is a zero
  std::uint32_t columns;
};

/// The place of a key at a level.
struct retrieval_place {
  const std::byte* window;
  const std::byte* code;  ///< the byte with the code of its bucket
  std::uint32_t start;    ///< among the starts of the four buckets of this byte
  std::uint16_t columns;
  std::uint16_t
      lower_groups;  ///< if the cut is inside the window: its groups below the cut; else 0
};

/// The start in shard mulhi64(y, shards): the lower half of y * shards is uniform again.
inline std::uint64_t retrieval_start_of(std::uint64_t y, std::uint64_t shards,
                                        std::uint64_t starts) noexcept {
  return mulhi64(y * shards, starts);
}

template <class Window>
inline retrieval_place retrieval_place_of(const std::byte* payload,
                                          const retrieval_level_view& level,
                                          std::uint64_t y) noexcept {
  constexpr std::uint64_t code_starts = 4 * Window::bucket_starts;  // of a byte of codes
  const std::uint64_t shard = mulhi64(y, level.shards);
  const std::uint64_t start =
      shard * level.starts + retrieval_start_of(y, level.shards, level.starts);
  const bool upper = start >= level.cut;
  const std::uint32_t columns = level.columns + upper;
  const std::uint64_t group = start + (Window::groups - 1) * shard;
  const std::uint64_t below = level.cut_group - group;  // modulo 2^64: large above the cut
  return {payload + ((upper ? level.upper_at : level.lower_at) + group * columns),
          payload + (level.codes_at + ((start / code_starts) & level.code_mask)),
          static_cast<std::uint32_t>(start % code_starts), static_cast<std::uint16_t>(columns),
          static_cast<std::uint16_t>(below < Window::groups ? below : 0)};
}

template <class Window>
inline bool is_bumped(const retrieval_place& place) noexcept {
  const unsigned bucket = place.start / Window::bucket_starts;
  const unsigned code = (std::to_integer<unsigned>(*place.code) >> (2 * bucket)) & 3;
  return place.start % Window::bucket_starts < Window::bumped_starts(code);
}

/// The XOR of 64 slots that the row selects: bit c is the parity of column c. A word has a byte of
/// eight columns; a multiplication gathers their parities. Reads up to 8 bytes beyond the slots.
inline std::uint32_t value_of_slots(const std::byte* slots, std::uint32_t columns,
                                    std::uint64_t row) noexcept {
  constexpr std::uint64_t byte_ones = 0x0101010101010101;
  std::uint32_t value = 0;
  for (std::uint32_t first = 0; first < columns; first += 8) {
    std::uint64_t sum = 0;
    for (unsigned group = 0; group < 8; ++group) {
      const std::uint64_t mask = ((row >> (8 * group)) & 0xff) * byte_ones;
      sum ^= load<std::uint64_t>(slots + std::size_t{group} * columns + first) & mask;
    }
    sum ^= sum >> 4;
    sum ^= sum >> 2;
    sum ^= sum >> 1;
    value |= static_cast<std::uint32_t>(((sum & byte_ones) * 0x0102040810204080) >> 56) << first;
  }
  return value & column_mask(columns);
}

/// The two parts of a row whose window has the cut in it: groups of `columns` bytes, and groups of
/// one byte more from `upper_at` on.
struct divided_row {
  const std::byte* upper_at;
  std::uint64_t lower;
  std::uint64_t upper;
};
[[gnu::always_inline]] inline divided_row row_across_cut(const retrieval_place& place,
                                                         std::uint64_t row) noexcept {
  const unsigned lower_slots = 8U * place.lower_groups;  // 8 .. 56
  return {place.window + std::size_t{place.lower_groups} * place.columns,
          row & ((std::uint64_t{1} << lower_slots) - 1), row >> lower_slots};
}

/// The value of hash y at its place.
template <class Window>
inline std::uint32_t value_at(const retrieval_place& place, std::uint64_t y) noexcept {
  if constexpr (Window::groups == 8) {  // levels of wider windows have no cut
    if (place.lower_groups != 0) {
      const divided_row row = row_across_cut(place, retrieval_row(y));
      return value_of_slots(place.window, place.columns, row.lower) ^
             (value_of_slots(row.upper_at, place.columns + 1U, row.upper) &
              column_mask(place.columns));
    }
  }
  // NOLINTNEXTLINE(misc-const-correctness): wider windows change it
  std::uint32_t value = value_of_slots(place.window, place.columns, retrieval_row(y));
  if constexpr (Window::groups == 16) {
    value ^= value_of_slots(place.window + std::size_t{8} * place.columns, place.columns,
                            retrieval_upper_row(y));
  }
  return value;
}

/// value_at with one column and no cut, in a third of the time.
template <class Window>
inline std::uint32_t bit_at(const retrieval_place& place, std::uint64_t y) noexcept {
  // NOLINTNEXTLINE(misc-const-correctness): wider windows change it
  std::uint64_t sum = load<std::uint64_t>(place.window) & retrieval_row(y);
  if constexpr (Window::groups == 16) {
    sum ^= load<std::uint64_t>(place.window + 8) & retrieval_upper_row(y);
  }
  return static_cast<std::uint32_t>(__builtin_parityll(sum));
}

/// `use(place, y)` at the first level where a hash is not bumped; without levels, zero or false.
template <class Window, class Use>
[[gnu::always_inline]] inline auto at_own_level(const std::byte* payload,
                                                std::span<const retrieval_level_view> levels,
                                                hash64 h, Use&& use) noexcept {
  std::uint64_t y = h.value;
  for (const retrieval_level_view& level : levels) {
    y = retrieval_hash(y, level.seed);
    const retrieval_place place = retrieval_place_of<Window>(payload, level, y);
    if (!is_bumped<Window>(place)) return use(place, y);
  }
  return decltype(use(retrieval_place{}, y)){};
}

/// Whether the bytes are in memory that decide the value of a hash (any_model.hpp, trace()).
template <class Window, class Has>
bool trace_retrieval(const std::byte* payload, std::span<const retrieval_level_view> levels,
                     hash64 h, Has&& has) {
  std::uint64_t y = h.value;
  for (const retrieval_level_view& level : levels) {
    y = retrieval_hash(y, level.seed);
    const retrieval_place place = retrieval_place_of<Window>(payload, level, y);
    const auto window_at = static_cast<std::uint64_t>(place.window - payload);
    const auto code_at = static_cast<std::uint64_t>(place.code - payload);
    std::uint64_t size = std::uint64_t{Window::groups} * place.columns;
    if (place.lower_groups != 0) size += Window::groups - place.lower_groups;
    const bool has_window = has(byte_interval{window_at, window_at + size});
    // A level that does not bump has no codes.
    if (level.code_mask != 0 && !has(byte_interval{code_at, code_at + 1})) return false;
    if (!is_bumped<Window>(place)) return has_window;
  }
  return true;
}

/// The value of a hash; 0 without levels.
template <class Window>
inline std::uint32_t retrieve(const std::byte* payload,
                              std::span<const retrieval_level_view> levels, hash64 h) noexcept {
  return at_own_level<Window>(
      payload, levels, h,
      [](const retrieval_place& place, std::uint64_t y) __attribute__((always_inline)) {
        return place.columns == 1 ? bit_at<Window>(place, y) : value_at<Window>(place, y);
      });
}

/// Whether the value of a hash is its fingerprint at that level; false without levels.
template <class Window>
inline bool matches_fingerprint(const std::byte* payload,
                                std::span<const retrieval_level_view> levels, hash64 h) noexcept {
  return at_own_level<Window>(
      payload, levels, h,
      [](const retrieval_place& place, std::uint64_t y) __attribute__((always_inline)) {
        return value_at<Window>(place, y) == (fingerprint_of(y) & column_mask(place.columns));
      });
}

}  // namespace bloomset::detail
