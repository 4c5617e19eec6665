#pragma once

#include <array>
#include <cstdint>

namespace bloomery::detail {

/// Entries of a segment that no other entry covers. Entry A covers B if A matches every hash that B
/// matches. Of equal entries, one is counted.
struct segment_census {
  std::array<std::uint64_t, 64> uncovered{};  ///< by bits of their remainders
  std::uint64_t whole_cells = 0;              ///< entries without a remainder, covered or not

  /// The fraction of the segment's hashes that match an entry.
  double rate(unsigned cell_bits) const noexcept;

  /// Estimated distinct keys.
  ///
  /// A key whose entry has r bits of remainder leaves an uncovered entry, unless a shorter one,
  /// which came before, or an equal one has its place. So the keys are balls thrown at
  /// 2^(cell_bits + r) bins, of which those are empty at first that shorter entries do not cover
  /// (formulas::throws_behind).
  struct key_estimate {
    double of_whole_cells;  ///< from entries without a remainder, as if each were a key
    double others;
    double seen_in_whole_cells;  ///< uncovered entries
    double seen_in_others;
  };
  key_estimate keys(unsigned cell_bits) const noexcept;
};

}  // namespace bloomery::detail
