#pragma once

/// The segments of an expandable filter in its own memory, and all operations that change them.

#include <bloomset/concepts.hpp>
#include <bloomset/detail/core/key_overloads.hpp>
#include <bloomset/detail/core/source_memory.hpp>
#include <bloomset/detail/expandable/segment_address.hpp>
#include <bloomset/detail/expandable/segment_arena.hpp>
#include <bloomset/detail/expandable/segment_kernels.hpp>
#include <bloomset/detail/expandable/segment_list.hpp>
#include <bloomset/storage.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomset::detail {

/// Batches of at least this many keys grow a filter on huge pages. The first touch of a huge page
/// waits until the kernel has cleared it, up to 6 ms on virtual machines, so single keys grow it on
/// small pages.
inline constexpr std::size_t min_batch_on_huge_pages = 128;

struct owned_segment {
  arena_bytes bytes;
  source_vector<counted_copies> counted;

  std::span<const std::byte> copies() const noexcept { return std::as_bytes(std::span(counted)); }
};

struct owned_segments {
  source_vector<owned_segment> segments;
  source_vector<segment_entry> list;  ///< as the payload has it
  std::uint64_t changes = 0;          ///< grows whenever a segment gets another place
  bool counts_copies = false;         ///< true once a copy was counted

  /// Keys per segment whose copies are counted. A segment has at most 24,576 entries when it is
  /// split, three per such key, so only chosen keys reach this limit.
  static constexpr std::size_t max_counted = std::size_t{1} << 14;
  /// Further copies of a key are counted when this many entries match it. Two entries that match by
  /// chance thus do not cost 16 bytes.
  static constexpr std::size_t max_copies_in_cell = 3;

  owned_segments() = default;
  owned_segments(const owned_segments& other);  ///< throws std::bad_alloc
  owned_segments& operator=(const owned_segments&) = delete;
  owned_segments(owned_segments&&) noexcept = default;
  owned_segments& operator=(owned_segments&&) noexcept = default;
  ~owned_segments() = default;

  static result<owned_segments> empty(const expandable_params& plan) noexcept;
  /// Copies segments and counted copies to an object without any. Precondition: check_segments()
  /// accepts them. Throws std::bad_alloc.
  void copy(const segment_spans& all);

  /// Inserts one copy unless `max_copies` entries match. If they do, the copy is counted, unless
  /// `max_copies` is 1.
  insert_outcome insert(expandable_params& params, hash64 h,
                        std::size_t max_copies = max_copies_in_cell) noexcept;
  bool erase(expandable_params& params, hash64 h) noexcept;

  /// Prefetches where a single key's block is likely to be; batches prefetch the block itself.
  void prefetch_to_change(const expandable_params& params, hash64 h) const noexcept;

  /// Inserts keys of a batch in order, as long as the next one needs no growth, no new layout of
  /// its segment and no counted copy. Returns the number of inserted keys.
  std::size_t insert_run(expandable_params& params, std::span<const segment_query> queries,
                         insert_summary& summary) noexcept;

  /// Inserts the first keys of a large batch, chunk by chunk: each segment is rewritten once for
  /// all its keys of a chunk. The others are left to insert().
  void insert_bulk(expandable_params& params, std::span<const hash64> hashes,
                   insert_summary& summary) noexcept;

  /// Adds the entries and counted copies of another filter, whose segments were checked. With
  /// `only_absent`, adds only the entries that no entry here matches, and no copies. Returns the
  /// number of added keys. Changes nothing if there is no room or if the union could not keep the
  /// rate.
  result<std::uint64_t> unite(expandable_params& params, const expandable_params& theirs,
                              const segment_spans& others, bool only_absent);

  /// Returns to the initial size. Keeps the size if memory runs out.
  void clear(expandable_params& params) noexcept;
  void relocate(const memory_mover& mover) noexcept;

  /// Chooses the pages of new chunks for batches of this many keys.
  void set_batch(std::size_t keys) noexcept {
    pages_ = keys < min_batch_on_huge_pages ? paging::one_by_one : paging::huge;
  }

 private:
  void empty_in_place(expandable_params& params) noexcept;
  void put(std::uint64_t segment, const arena_bytes& place) noexcept;
  bool put_built(const segment_shape& shape, std::uint64_t segment,
                 const built_segment& built) noexcept;

  bool lay_out(const segment_shape& shape, std::uint64_t segment, std::size_t block,
               std::size_t needed) noexcept;
  bool count_copy(std::uint64_t segment, hash64 h) noexcept;
  bool uncount_copy(std::uint64_t segment, hash64 h) noexcept;

  bool grow(expandable_params& params) noexcept;
  bool lengthen(expandable_params& params, const expandable_params& next);
  bool put_pair(expandable_params& params, const expandable_params& next, const segment_pair& pair);

  bool insert_chunk(expandable_params& params, std::span<const hash64> hashes,
                    insert_summary& summary) noexcept;
  std::size_t merge(expandable_params& params, std::uint64_t segment, bool splits,
                    std::span<hash64> keys, merge_buffers& buffers,
                    std::uint64_t& newly_inserted) noexcept;

  result<owned_segments> united(expandable_params& params, const expandable_params& theirs,
                                const segment_spans& others, bool only_absent,
                                std::uint64_t& newly_inserted) const;

  segment_arena arena_;
  paging pages_ = paging::one_by_one;
};

}  // namespace bloomset::detail
