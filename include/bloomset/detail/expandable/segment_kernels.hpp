#pragma once

/// Operations on whole segments (segment_layout.hpp), in a table of functions for each instruction
/// set. All tables give the same bytes and the same answers.

#include <array>
#include <bloomset/detail/expandable/segment_layout.hpp>
#include <bloomset/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bloomset::detail {

/// A key's segment and its place there. A SIMD kernel loads queries as 64-bit words.
struct segment_query {
  const std::byte* bytes;  ///< of the segment
  std::size_t size;        ///< of the segment, in bytes
  std::uint64_t remainder;
  std::uint32_t cell;
  std::uint32_t slot_bits;

  std::span<const std::byte> segment() const noexcept { return {bytes, size}; }
  /// For the segment's owner, who may write to it.
  std::span<std::byte> own_segment() const noexcept {
    return {const_cast<std::byte*>(bytes), size};  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  }
};

struct insert_result {
  std::size_t matching;  ///< entries that matched before the insert
  bool placed;
  std::size_t needed;  ///< bytes that the block and its neighbours lack, if a layout is due; else 0
};

constexpr std::size_t max_segment_blocks = std::size_t{1} << (14 - block_cell_bits);

/// A plan to write a segment anew, with gaps in all blocks and room for one more entry in one.
struct segment_layout {
  std::size_t bytes;                                      ///< of the new segment
  std::size_t gaps;                                       ///< bytes of all gaps
  std::size_t needed;                                     ///< bytes of the new entry
  std::array<std::uint16_t, max_segment_blocks> entries;  ///< of each block
};

/// The blocks of one half of a segment's cells, one after the other.
struct built_half {
  std::vector<std::byte> area;
  std::vector<std::size_t> ends;  ///< of each block
  std::size_t size = 0;           ///< bytes used in `area`
  std::size_t entries = 0;
  std::size_t largest_block = 0;  ///< entries in the fullest block
};

/// A segment to be written. With as many cells as before it has only a low half.
struct built_segment {
  built_half low;
  built_half high;

  /// Bytes of the segment. Nothing if its block offsets cannot address them, or if a block has more
  /// than max_block_entries.
  std::optional<std::size_t> stored_bytes(const segment_shape& shape) const noexcept;
  std::size_t entries() const noexcept { return low.entries + high.entries; }
  void write(const segment_shape& shape, std::span<std::byte> to) const noexcept;
};

/// The two segments of a split. Without a split there is only the first.
struct segment_pair {
  built_segment first;   ///< after a split the even cells
  built_segment second;  ///< the odd cells
  std::size_t gained;    ///< entries without a remainder, which now are in both
};

/// A census of the entries of a segment that no other entry covers. Entry A covers B if A matches
/// every hash that B matches. Of equal entries, one is counted.
struct segment_census {
  std::array<std::uint64_t, 64> uncovered{};  ///< by bits of their remainders
  std::uint64_t whole_cells = 0;              ///< entries without a remainder, covered or not

  /// The fraction of the segment's hashes that match an entry.
  double rate(unsigned cell_bits) const noexcept;

  /// Estimated distinct keys.
  ///
  /// A key whose entry has r bits of remainder leaves an uncovered entry, unless an equal entry or
  /// a shorter one, inserted before, matches it. The keys are thus balls thrown at 2^(cell_bits +
  /// r) bins. At first those bins are empty that no shorter entry covers (formulas::throws_behind).
  struct key_estimate {
    double of_whole_cells;  ///< from entries without a remainder, as if each were a key
    double others;
    double seen_in_whole_cells;  ///< uncovered entries
    double seen_in_others;
  };
  key_estimate keys(unsigned cell_bits) const noexcept;
};

struct cell_entry {
  std::uint32_t cell;  ///< in the segment
  std::uint64_t entry;
};

/// How the keys of a large batch are merged into a segment.
struct merge_order {
  std::uint64_t segment;  ///< its number: the lowest `level` bits of its keys' hashes
  unsigned level;         ///< bits of the hash that choose the segment
  bool splits;            ///< into two segments
  unsigned slot_bits;     ///< of the new segments; after a split at least the old ones less one
};

struct merged_segment {
  segment_pair segments;       ///< only the first, if it is not split
  std::size_t placed;          ///< keys of the batch in it
  std::size_t newly_inserted;  ///< placed keys that no entry matched
};

/// Temporary memory of merge(), reused from segment to segment.
struct merge_buffers {
  std::vector<std::uint32_t> ends;    ///< of each cell's keys in `sorted`
  std::vector<std::uint64_t> sorted;  ///< keys by cell: their hashes without the segment's bits
  std::vector<std::uint64_t> held;    ///< entries of a block
  std::vector<std::uint64_t> merged;  ///< entries of a block and of its keys
};

struct segment_kernels {
  /// Writes a segment without entries, whose blocks have `area` bytes.
  void (*empty)(const segment_shape& shape, std::size_t area, std::span<std::byte> to) noexcept;

  /// Inserts an entry as the first of its cell. Changes nothing and reports `placed` = false if
  /// `max_copies` entries match already, if the block has max_block_entries, or if the segment must
  /// be laid out anew first.
  insert_result (*insert)(const segment_shape& shape, std::span<std::byte> segment,
                          std::size_t cell, std::uint64_t remainder,
                          std::size_t max_copies) noexcept;

  /// Inserts keys in order, up to the first that is not placed. Returns the number of placed keys.
  /// Adds to `newly_inserted` the number of keys that no entry matched.
  std::size_t (*insert_run)(unsigned cell_bits, std::span<const segment_query> queries,
                            std::size_t max_copies, std::uint64_t& newly_inserted) noexcept;

  /// Plans to lay a segment out anew, with `needed` bytes more in a block. False if its block
  /// offsets cannot address that many bytes.
  bool (*plan_layout)(const segment_shape& shape, std::span<const std::byte> segment,
                      std::size_t needed, segment_layout& plan) noexcept;
  void (*lay_out)(const segment_shape& shape, const segment_layout& plan, std::size_t block,
                  std::span<const std::byte> from, std::span<std::byte> to) noexcept;

  /// Removes the longest entry of the cell that matches. False if none does.
  bool (*erase)(const segment_shape& shape, std::span<std::byte> segment, std::size_t cell,
                std::uint64_t remainder) noexcept;

  /// Splits a segment into two of as many cells, with slots of `slot_bits` bits: at least the old
  /// ones less one. Nothing if memory runs out. Precondition: the segment has at least two blocks.
  std::optional<segment_pair> (*split)(const segment_shape& shape,
                                       std::span<const std::byte> segment,
                                       unsigned slot_bits) noexcept;
  /// As split(), but makes one segment with twice the cells, the first of the pair.
  std::optional<segment_pair> (*widen)(const segment_shape& shape,
                                       std::span<const std::byte> segment,
                                       unsigned slot_bits) noexcept;

  /// Merges the keys of a batch with the entries in one pass over the blocks. A key that
  /// `max_copies` entries match is not placed. Reorders the keys: those that were not placed come
  /// first. Returns nothing, with all keys in `keys` in any order, if memory runs out or too many
  /// keys belong to one block. Precondition: fewer than 2^32 keys.
  std::optional<merged_segment> (*merge)(const segment_shape& shape,
                                         std::span<const std::byte> segment,
                                         const merge_order& order, std::size_t max_copies,
                                         std::span<hash64> keys, merge_buffers& buffers) noexcept;

  /// Replaces `to` by all entries, in ascending order of cells. Throws std::bad_alloc.
  void (*list)(const segment_shape& shape, std::span<const std::byte> segment,
               std::vector<cell_entry>& to);
  /// Builds a segment of entries in ascending order of cells, whose blocks have at least
  /// `room_before` bytes. Nothing if memory runs out. Precondition: no entry is longer than a slot.
  std::optional<built_segment> (*build)(const segment_shape& shape,
                                        std::span<const cell_entry> entries,
                                        std::size_t room_before) noexcept;

  /// The number of entries, or nothing if the segment is not well formed. All functions that write
  /// to a segment need it to be well formed.
  std::optional<std::size_t> (*check)(const segment_shape& shape,
                                      std::span<const std::byte> segment) noexcept;
  /// Reads only the segment's bytes, whatever they are.
  segment_census (*census)(const segment_shape& shape, std::span<const std::byte> segment) noexcept;

  /// Prefetches the blocks of the queries. This is a kernel, because compilers remove a loop that
  /// only prefetches if they can inline it.
  void (*prefetch)(unsigned cell_bits, std::span<const segment_query> queries) noexcept;
  /// Prefetches what an insert may read: the block and those behind it.
  void (*prefetch_to_insert)(unsigned cell_bits, std::span<const segment_query> queries) noexcept;
  /// Answers queries, and prefetches the blocks of others in steps between them.
  using batch_query = void(unsigned cell_bits, std::span<const segment_query> queries,
                           std::span<const segment_query> to_prefetch, bool* answers) noexcept;
  batch_query* contains_batch;
  bool (*contains)(unsigned cell_bits, const segment_query& query) noexcept;

  [[gnu::visibility("hidden")]] static const segment_kernels scalar, vector128, vector256,
      vector512;
  /// contains_batch() of vector128 and of vector512.
  [[gnu::visibility("hidden")]] static batch_query contains_by_neon, contains_by_eights;
};

/// The table for this CPU.
const segment_kernels& segment_ops() noexcept;

}  // namespace bloomset::detail
