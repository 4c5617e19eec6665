#pragma once

/// The segments of an expandable filter in its own memory, and all operations that change them.

#include <bloomery/concepts.hpp>
#include <bloomery/detail/core/key_overloads.hpp>
#include <bloomery/detail/core/source_memory.hpp>
#include <bloomery/detail/expandable/counted_copies.hpp>
#include <bloomery/detail/expandable/segment_address.hpp>
#include <bloomery/detail/expandable/segment_arena.hpp>
#include <bloomery/detail/expandable/segment_kernels.hpp>
#include <bloomery/detail/expandable/segment_list.hpp>
#include <bloomery/storage.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace bloomery::detail {

/// Batches of at least so many keys grow a filter on huge pages; key_shell hands on as many at
/// once. The first touch of a huge page waits until the kernel has cleared it, up to 6 ms on
/// virtual machines, so single keys grow it on small pages.
inline constexpr std::size_t min_batch_on_huge_pages = shell_batch;

struct owned_segment {
  arena_bytes bytes;
  owned_storage counted;  ///< counted_copies, and room for more
};

struct owned_segments {
  source_vector<owned_segment> segments;
  source_vector<segment_entry> list;  ///< as the payload has it
  std::uint64_t moved = 0;            ///< bytes written by inserts
  std::uint64_t changes = 0;          ///< grows whenever a segment gets another place
  bool counts_copies = false;         ///< true once a copy was counted

  /// Keys per segment whose copies are counted. A segment has at most 24,576 entries when it is
  /// split, three per such key, so only chosen keys reach this limit.
  static constexpr std::size_t max_counted = std::size_t{1} << 14;
  /// Entries that match a key before its further copies are counted. Two entries that match by
  /// chance do not yet cost a key 16 bytes.
  static constexpr std::size_t max_copies_in_cell = 3;

  owned_segments() = default;
  owned_segments(const owned_segments& other);  ///< throws std::bad_alloc
  owned_segments& operator=(const owned_segments& other);
  owned_segments(owned_segments&&) noexcept = default;
  owned_segments& operator=(owned_segments&&) noexcept = default;
  ~owned_segments() = default;

  static result<owned_segments> empty(const expandable_params& plan);
  static result<owned_segments> copy_of(std::span<const std::byte> payload,
                                        std::span<const segment_extent> extents);

  /// Inserts one copy. Precondition, as for the next two: `at` is the hash's place.
  insert_outcome insert(expandable_params& params, hash64 h, const segment_place& at) noexcept {
    return insert_up_to(max_copies_in_cell, params, h, at);
  }
  /// Inserts the key unless an entry matches.
  insert_outcome insert_absent(expandable_params& params, hash64 h,
                               const segment_place& at) noexcept {
    return insert_up_to(1, params, h, at);
  }
  bool erase(expandable_params& params, hash64 h, const segment_place& at) noexcept;

  /// Inserts keys of a batch in order, as long as the next one needs no growth, no layout and no
  /// counted copy. Returns how many; `newly_inserted` grows by the keys that no entry matched.
  std::size_t insert_run(expandable_params& params, std::span<const segment_query> queries,
                         std::uint64_t& newly_inserted) noexcept {
    const std::uint64_t max = params.max_entries();
    if (counts_copies || params.entries >= max) return 0;
    queries = queries.first(detail::min<std::uint64_t>(queries.size(), max - params.entries));
    const std::size_t done = segment_ops().insert_run(params.cell_bits, queries, max_copies_in_cell,
                                                      newly_inserted, moved);
    params.entries += done;
    return done;
  }

  /// Inserts the first keys of a large batch, chunk by chunk: each segment is rewritten once for
  /// all its keys of a chunk. Returns how many keys; the others are left to insert().
  std::size_t insert_bulk(expandable_params& params, std::span<const hash64> hashes,
                          insert_summary& summary) noexcept;

  /// Adds the entries and counted copies of another filter, whose segments are checked; with
  /// `only_absent` the entries that none here matches, without copies. Returns how many keys were
  /// added. Changes nothing if there is no room or if the union could not keep the rate.
  result<std::uint64_t> unite(expandable_params& params, const expandable_params& theirs,
                              const segment_spans& others, bool only_absent);

  /// Returns to the initial size. Keeps the size if memory runs out.
  void clear(expandable_params& params) noexcept;
  void relocate(const memory_mover& mover) noexcept;

  /// While it lives, new chunks have the pages for batches of so many keys.
  class [[nodiscard]] page_choice {
   public:
    page_choice(owned_segments& segments, std::size_t keys) noexcept : segments_(segments) {
      segments_.pages_ = keys < min_batch_on_huge_pages ? paging::one_by_one : paging::huge;
    }
    page_choice(const page_choice&) = delete;
    page_choice& operator=(const page_choice&) = delete;
    ~page_choice() { segments_.pages_ = paging::one_by_one; }

   private:
    owned_segments& segments_;
  };
  page_choice pages_for(std::size_t keys) noexcept { return {*this, keys}; }

 private:
  static std::optional<owned_segments> try_empty(const expandable_params& plan) noexcept;
  void empty_in_place(expandable_params& params) noexcept;
  void put(std::uint64_t segment, const arena_bytes& place) noexcept;
  bool put_built(const segment_shape& shape, std::uint64_t segment,
                 const built_segment& built) noexcept;

  insert_outcome insert_up_to(std::size_t max_copies, expandable_params& params, hash64 h,
                              segment_place at) noexcept;
  bool lay_out(const segment_shape& shape, std::uint64_t segment, std::size_t block,
               std::size_t needed) noexcept;
  bool count_copy(std::uint64_t segment, hash64 h) noexcept;
  bool uncount_copy(std::uint64_t segment, hash64 h) noexcept;
  std::uint64_t counted_in(std::uint64_t segment, hash64 h) const noexcept {
    return counted_of(segments[segment].counted.bytes(), list[segment].counted, h);
  }

  bool grow(expandable_params& params) noexcept;
  bool widen(expandable_params& params, const expandable_params& next) noexcept;
  bool split(expandable_params& params, const expandable_params& next);
  bool put_pair(expandable_params& params, const expandable_params& next, const segment_pair& pair);

  struct bulk_chunk;
  bool insert_chunk(expandable_params& params, std::span<const hash64> hashes,
                    insert_summary& summary) noexcept;
  bool insert_leftovers(expandable_params& params, bulk_chunk& chunk,
                        insert_summary& summary) noexcept;
  void erase_chunk(expandable_params& params, bulk_chunk& chunk) noexcept;
  std::size_t merge(expandable_params& params, std::uint64_t segment, bool splits,
                    std::span<hash64> keys, merge_buffers& buffers,
                    std::uint64_t& newly_inserted) noexcept;

  result<owned_segments> united(expandable_params& params, const expandable_params& theirs,
                                const segment_spans& others, bool only_absent,
                                std::uint64_t& newly_inserted) const;

  segment_arena arena_;
  paging pages_ = paging::one_by_one;
};

}  // namespace bloomery::detail
