#pragma once

// What changes an expandable filter's segments (segment_layout.hpp): insert, erase, the split of
// one into two; and what is read of a whole one. A table of functions for each instruction set;
// all do the same to the bit.

#include <bloomery/detail/segment_layout.hpp>
#include <bloomery/storage.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace bloomery::detail {

/// A question to a segment.
struct segment_query {
  std::span<const std::byte> segment;
  std::uint64_t rest;
  std::uint32_t cell;
  unsigned slot_bits;
};

/// What an insert found and did.
struct insert_result {
  std::size_t matching;  ///< entries that matched before
  bool placed;
};

/// The two segments that one becomes, each for half of its keys.
struct segment_pair {
  owned_storage first;   ///< of the even cells
  owned_storage second;  ///< of the odd ones
  std::size_t gained;    ///< entries that are in two cells now
};

/// A segment of twice the cells.
struct wider_segment {
  owned_storage bytes;
  std::size_t entries;
};

struct segment_kernels {
  /// A segment without entries, with so many bytes for its blocks; nothing if there is no memory.
  std::optional<owned_storage> (*empty)(const segment_shape& shape, std::size_t area) noexcept;

  /// Adds an entry to a cell, in front of its others, unless `most` match already. Not placed, and
  /// nothing has changed, either for that or if the segment would be larger than its starts can say
  /// or there is no memory. Moves at most the segment's bytes; as a rule those of a few blocks.
  /// `moved` is raised by the bytes that were written.
  insert_result (*insert)(const segment_shape& shape, owned_storage& segment, std::size_t cell,
                          std::uint64_t rest, std::size_t most, std::uint64_t& moved) noexcept;

  /// Removes the longest entry of the cell that matches; false if none does.
  bool (*erase)(const segment_shape& shape, owned_storage& segment, std::size_t cell,
                std::uint64_t rest) noexcept;

  /// Splits a segment: each child has as many cells, and slots of `slot_bits` bits, at least the
  /// parent's less one. Nothing if a child does not fit or there is no memory. Precondition: it has
  /// two blocks or more.
  std::optional<segment_pair> (*split)(const segment_shape& shape,
                                       std::span<const std::byte> segment,
                                       unsigned slot_bits) noexcept;
  /// The same keys in twice as many cells.
  std::optional<wider_segment> (*widen)(const segment_shape& shape,
                                        std::span<const std::byte> segment,
                                        unsigned slot_bits) noexcept;

  /// The entries of a segment, if it is one that the functions above could have made: what writes
  /// to it relies on that.
  std::optional<std::size_t> (*check)(const segment_shape& shape,
                                      std::span<const std::byte> segment) noexcept;
  /// The share of this segment's hashes that match an entry.
  double (*rate)(const segment_shape& shape, std::span<const std::byte> segment) noexcept;

  /// Asks for the blocks of many queries to come into the cache. (A loop that does nothing else is
  /// removed by compilers where they see that.)
  void (*fetch)(unsigned cell_bits, std::span<const segment_query> queries) noexcept;
  /// Whether an entry matches, for many queries; fetches their blocks together.
  void (*ask)(unsigned cell_bits, std::span<const segment_query> queries, bool* answers) noexcept;
  bool (*holds)(unsigned cell_bits, const segment_query& query) noexcept;
};

/// Those of the kernel set in use (block_kernels.hpp).
const segment_kernels& segment_ops() noexcept;

}  // namespace bloomery::detail
