#pragma once

// The shape of a level of retrieval: its shards, starts and columns. What a plan has to know.

#include <cstdint>
#include <span>

namespace bloomset::detail {

/// A level. The first has all keys; each other has the keys that the level before bumped. A level
/// has shards of equal shape. A shard is a system of linear equations over slots. A start is a
/// position where a key's window of slots may begin; starts are numbered across all shards. Keys
/// whose start is below the cut have values of `columns` bits, the others of one more, so that the
/// mean rate of a filter can have any value. A shard that the cut divides is solved with the
/// greater number of columns, the last of them zero for keys below the cut. Because the slots from
/// the cut on satisfy all equations that start there, only they store the last column.
struct retrieval_level {
  std::uint64_t seed = 0;  ///< below 2^63; 0: the hash of the level before, unchanged
  std::uint64_t shards = 1;
  std::uint64_t starts = 1;   ///< per shard; a multiple of bucket_starts() if there are several
  std::uint64_t cut = 0;      ///< 0 .. all_starts(); all of them with windows of 128 slots
  std::uint32_t columns = 0;  ///< r, 0 .. 31; 32 only if the cut is all_starts()
  std::uint32_t width = 64;   ///< W, slots of a window: 64 or 128
  bool bumps = false;         ///< whether keys may be in the next level

  std::uint64_t all_starts() const noexcept { return shards * starts; }
  std::uint64_t window_groups() const noexcept { return width / 8; }
  /// Starts that share a code of 2 bits.
  std::uint64_t bucket_starts() const noexcept { return width == 64 ? 16 : 64; }
  /// Groups of 8 slots. A shard has window_groups() - 1 more groups than starts.
  std::uint64_t groups() const noexcept { return all_starts() + (window_groups() - 1) * shards; }
  /// Those of `columns` bits per slot, which come first.
  std::uint64_t lower_groups() const noexcept {
    return cut + (window_groups() - 1) * (cut / starts);
  }
  /// Those of `columns` + 1 bits.
  std::uint64_t upper_groups() const noexcept { return groups() - lower_groups(); }
  std::uint64_t slots() const noexcept { return 8 * groups(); }
  std::uint64_t code_bytes() const noexcept {
    const std::uint64_t code_starts = 4 * bucket_starts();  // of a byte
    return bumps ? (all_starts() + code_starts - 1) / code_starts : 0;
  }
  std::uint64_t data_bytes() const noexcept {
    return lower_groups() * columns + upper_groups() * (columns + 1);
  }
  std::uint64_t bytes() const noexcept { return code_bytes() + data_bytes(); }

  /// Whether shards, starts, cut, columns and seed are in their ranges, for a level with at most
  /// this number of columns. The sizes above then do not overflow.
  bool possible(std::uint32_t max_columns) const noexcept;
};

/// The most levels of a structure.
inline constexpr std::uint64_t max_retrieval_levels = 32;
/// The most keys.
inline constexpr std::uint64_t max_retrieval_keys = std::uint64_t{1} << 48;

/// Whether all levels have these columns and this width and are possible, for at most
/// max_retrieval_levels of which the last alone does not bump.
bool are_possible(std::span<const retrieval_level> levels, std::uint32_t columns,
                  std::uint32_t width) noexcept;

/// The bytes of all levels.
std::uint64_t retrieval_bytes(std::span<const retrieval_level> levels) noexcept;

/// Sets the starts per shard of a level of about `groups` groups.
void set_starts(retrieval_level& level, std::uint64_t groups) noexcept;

/// The level of width W for n >= 1 keys of r bits each, without its seed. `attempt` counts the
/// tries of a last level, which does not bump, from 0. Every few tries the level is larger, which
/// makes a solution likelier.
retrieval_level plan_retrieval_level(std::uint64_t n, std::uint32_t columns, std::uint32_t width,
                                     unsigned attempt) noexcept;

}  // namespace bloomset::detail
