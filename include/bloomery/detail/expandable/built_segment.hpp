#pragma once

/// Segments that kernels have built in temporary memory, to be written to their places.

#include <bloomery/detail/expandable/segment_layout.hpp>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace bloomery::detail {

/// The blocks of one half of a segment's cells, one after the other.
struct built_half {
  std::vector<std::byte> area;
  std::vector<std::size_t> ends;  ///< of each block
  std::size_t size = 0;           ///< bytes used in `area`
  std::size_t entries = 0;
  std::size_t largest_block = 0;  ///< entries in the fullest block
};

/// A segment to be written. A segment that was not split or widened has only a low half.
struct built_segment {
  built_half low;
  built_half high;

  /// Bytes of the segment. Nothing if its block offsets cannot address them, or if a block has more
  /// than max_block_entries.
  std::optional<std::size_t> stored_bytes(const segment_shape& shape) const noexcept;
  std::size_t entries() const noexcept { return low.entries + high.entries; }
  void write(const segment_shape& shape, std::span<std::byte> to) const noexcept;
};

/// The two segments that one was split into.
struct segment_pair {
  built_segment first;   ///< the even cells
  built_segment second;  ///< the odd cells
  std::size_t gained;    ///< entries without a remainder, which are in both now
};

}  // namespace bloomery::detail
