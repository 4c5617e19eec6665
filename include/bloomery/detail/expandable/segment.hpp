#pragma once

// What changes an expandable filter's segments (segment_layout.hpp): insert, erase, the split of
// one into two; and what is read of a whole one. A table of functions for each instruction set;
// all do the same to the bit.

#include <array>
#include <bloomery/detail/expandable/segment_layout.hpp>
#include <bloomery/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bloomery::detail {

/// A question to a segment. Kernels read several at once, as words of 64 bits.
struct segment_query {
  const std::byte* bytes;  ///< of the segment,
  std::size_t size;        ///< so many
  std::uint64_t rest;
  std::uint32_t cell;
  std::uint32_t slot_bits;

  std::span<const std::byte> segment() const noexcept { return {bytes, size}; }
  /// For the segment's owner, who may write to it.
  std::span<std::byte> own_segment() const noexcept {
    return {const_cast<std::byte*>(bytes), size};  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  }
};

/// What an insert found and did.
struct insert_result {
  std::size_t matching;  ///< entries that matched before
  bool placed;
  /// Bytes of the entry, if there are too few in its block and those near it; else 0.
  std::size_t needed;
};

constexpr std::size_t max_segment_blocks = std::size_t{1} << (14 - block_cell_bits);

/// How a segment is laid out anew, with gaps in all its blocks and one entry's bytes in one.
struct segment_layout {
  std::size_t bytes;  ///< that it will have
  std::size_t gaps;   ///< bytes of them
  std::size_t needed;
  std::array<std::uint16_t, max_segment_blocks> entries;  ///< of each block
};

/// Blocks one after the other, as half of a segment that is yet to be written.
struct built_half {
  std::vector<std::byte> area;
  std::vector<std::size_t> ends;  ///< of each block
  std::size_t size = 0;           ///< bytes of `area` that are used
  std::size_t entries = 0;
  std::size_t largest_block = 0;  ///< entries in the fullest block
};

/// A segment that is yet to be written: one of those that another becomes.
struct built_segment {
  built_half low;
  built_half high;

  /// Bytes that it will have; nothing if they are more than its starts can say, or if a block has
  /// more than max_block_entries.
  std::optional<std::size_t> stored_bytes(const segment_shape& shape) const noexcept;
  std::size_t entries() const noexcept { return low.entries + high.entries; }
  void write(const segment_shape& shape, std::span<std::byte> to) const noexcept;
};

/// The two segments that one becomes, each for half of its keys.
struct segment_pair {
  built_segment first;   ///< of the even cells
  built_segment second;  ///< of the odd ones
  std::size_t gained;    ///< entries that are in two cells now
};

/// An entry and its cell in the segment.
struct cell_entry {
  std::uint32_t cell;
  std::uint64_t entry;
};

/// What is to become of a segment that takes many keys at once.
struct merge_order {
  std::uint64_t segment;    ///< its number, the lowest `level` bits of its keys' hashes
  unsigned level;           ///< bits of the hash that choose it
  bool splits;              ///< into two, each for half of its keys
  unsigned slot_bits;       ///< of what it becomes; split: at least its own less one
  std::size_t room_before;  ///< bytes that its blocks have had, kept if it is not split
};

/// A segment, or the two that it became, with keys of a batch.
struct merged_segment {
  segment_pair parts;  ///< only the first, if it is not split
  std::size_t placed;  ///< keys of the batch that it holds,
  std::size_t fresh;   ///< of which so many matched no entry before
};

/// What merge() works in, kept from segment to segment.
struct merge_room {
  std::vector<std::uint32_t> ends;    ///< of each cell's keys
  std::vector<std::uint64_t> sorted;  ///< the keys by cell: the hashes behind the segment's bits
  std::vector<std::uint64_t> held;    ///< entries of a block
  std::vector<std::uint64_t> merged;  ///< these and the keys'
};

/// Entries that no other entry of the segment covers, that is, matches all that they match.
struct segment_census {
  std::array<std::uint64_t, 64> uncovered{};  ///< by bits of their remainders; of equal ones, one
  std::uint64_t whole_cells = 0;              ///< entries without a remainder, covered or not

  /// The share of the segment's hashes that match an entry.
  double rate(unsigned cell_bits) const noexcept;

  /// Distinct keys that came with r bits of remainder leave an uncovered entry unless one of fewer
  /// bits, which came before, or an equal one has its place. So they are throws at 2^(cell_bits +
  /// r) places, of which those are free at first that shorter entries leave
  /// (formulas::throws_behind).
  struct key_estimate {
    double of_whole_cells;  ///< from entries without a remainder, as if each were a key
    double others;
    double seen_in_whole_cells;  ///< uncovered entries
    double seen_in_others;
  };
  key_estimate keys(unsigned cell_bits) const noexcept;
};

struct segment_kernels {
  /// Writes a segment without entries, with so many bytes for its blocks.
  void (*empty)(const segment_shape& shape, std::size_t area, std::span<std::byte> to) noexcept;

  /// Adds an entry to a cell, in front of its others, unless `most` match already. Not placed, and nothing has changed, for that, or if its block has
  /// max_block_entries, or if the segment has to be laid out anew before. Moves bytes of a few
  /// blocks; `moved` is raised by those that were written.
  insert_result (*insert)(const segment_shape& shape, std::span<std::byte> segment,
                          std::size_t cell, std::uint64_t rest, std::size_t most,
                          std::uint64_t& moved) noexcept;

  /// The same for many keys in order, up to the first that is not placed. Returns how many were;
  /// `fresh` is raised by those that none matched.
  std::size_t (*insert_run)(unsigned cell_bits, std::span<const segment_query> queries,
                            std::size_t most, std::uint64_t& fresh, std::uint64_t& moved) noexcept;

  /// Plans to lay a segment out anew, with `needed` bytes more in a block; false if it would be
  /// larger than its starts can say.
  bool (*plan_layout)(const segment_shape& shape, std::span<const std::byte> segment,
                      std::size_t needed, segment_layout& plan) noexcept;
  void (*lay_out)(const segment_shape& shape, const segment_layout& plan, std::size_t block,
                  std::span<const std::byte> from, std::span<std::byte> to) noexcept;

  /// Removes the longest entry of the cell that matches; false if none does.
  bool (*erase)(const segment_shape& shape, std::span<std::byte> segment, std::size_t cell,
                std::uint64_t rest) noexcept;

  /// Splits a segment: each child has as many cells, and slots of `slot_bits` bits, at least the
  /// parent's less one. Nothing if there is no memory. Precondition: it has two blocks or more.
  std::optional<segment_pair> (*split)(const segment_shape& shape,
                                       std::span<const std::byte> segment,
                                       unsigned slot_bits) noexcept;
  /// The same keys in twice as many cells.
  std::optional<built_segment> (*widen)(const segment_shape& shape,
                                        std::span<const std::byte> segment,
                                        unsigned slot_bits) noexcept;

  /// The same keys and those of a batch, in one pass; a key that `most` entries match already is
  /// not placed. Reorders the keys: those that were not placed come first. Nothing, and all of them
  /// are there in some order, if there is no memory or too many of them belong to one block.
  /// Precondition: fewer than 2^32 keys.
  std::optional<merged_segment> (*merge)(const segment_shape& shape,
                                         std::span<const std::byte> segment,
                                         const merge_order& order, std::size_t most,
                                         std::span<hash64> keys, merge_room& room) noexcept;

  /// Appends all entries, in ascending order of cells. Throws std::bad_alloc.
  void (*list)(const segment_shape& shape, std::span<const std::byte> segment,
               std::vector<cell_entry>& to);
  /// The same entries and others, which are in ascending order of cells and no longer than its
  /// slots. Nothing if there is no memory.
  std::optional<built_segment> (*unite)(const segment_shape& shape,
                                        std::span<const std::byte> segment,
                                        std::span<const cell_entry> others) noexcept;

  /// The entries of a segment, if it is one that the functions above could have made: what writes
  /// to it relies on that.
  std::optional<std::size_t> (*check)(const segment_shape& shape,
                                      std::span<const std::byte> segment) noexcept;
  /// What the entries match. Whatever the bytes are, it reads no others.
  segment_census (*census)(const segment_shape& shape, std::span<const std::byte> segment) noexcept;

  /// Asks for the blocks of many queries to come into the cache. (A loop that does nothing else is
  /// removed by compilers where they see that.)
  void (*fetch)(unsigned cell_bits, std::span<const segment_query> queries) noexcept;
  /// And what of the blocks behind them an insert may read.
  void (*fetch_to_insert)(unsigned cell_bits, std::span<const segment_query> queries) noexcept;
  /// Whether an entry matches, for many queries; and between them fetches the blocks of others: all
  /// at once, those would wait for each other, and the work behind them.
  void (*ask)(unsigned cell_bits, std::span<const segment_query> queries,
              std::span<const segment_query> to_fetch, bool* answers) noexcept;
  bool (*holds)(unsigned cell_bits, const segment_query& query) noexcept;
};

/// Those for this CPU.
const segment_kernels& segment_ops() noexcept;

}  // namespace bloomery::detail
