#pragma once

/// The segments of an expandable filter over any storage.

#include <bloomery/detail/core/filter_memory.hpp>
#include <bloomery/detail/core/precondition.hpp>
#include <bloomery/detail/expandable/owned_segments.hpp>
#include <bloomery/detail/expandable/segment_statistics.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace bloomery::detail {

/// Segments in mapped or borrowed memory, to be read.
template <storage Storage>
struct mapped_segments {
  struct segment {
    Storage bytes;
    Storage counted;  ///< counted_copies
  };
  std::vector<segment> segments;
  std::vector<segment_entry> list;
  bool counts_copies = false;
};

template <storage Storage>
class segment_table {
  static constexpr bool owns = std::same_as<Storage, owned_storage>;

 public:
  static result<segment_table> make(const expandable_params& plan)
    requires owns
  {
    auto made = owned_segments::empty(plan);
    if (!made) return fail(std::move(made.error()));
    segment_table table;
    table.segments_ = std::move(*made);
    return table;
  }

  static result<segment_table> open(const expandable_params& params, const Storage& payload,
                                    std::uint64_t count) {
    const auto all = payload.bytes();
    const auto extents = read_segment_list(params, all, count);
    if (!extents) return fail(extents.error());
    segment_table table;
    if constexpr (owns) {
      auto copied = owned_segments::copy_of(all, *extents);
      if (!copied) return fail(std::move(copied.error()));
      table.segments_ = std::move(*copied);
    } else {
      table.segments_.segments.reserve(extents->size());
      for (const segment_extent& each : *extents) {
        table.segments_.segments.push_back(
            {payload.slice(each.at, each.size), payload.slice(each.counted_at, each.counted_size)});
      }
    }
    table.segments_.list.resize(extents->size());
    if (!extents->empty()) {
      std::memcpy(table.segments_.list.data(), all.data(), extents->size() * sizeof(segment_entry));
    }
    for (const segment_entry& each : table.segments_.list) {
      table.segments_.counts_copies |= each.counted != 0;
    }
    if constexpr (owns) {
      if (auto ok = check_segments(params, table.spans(), count); !ok) {
        return fail(std::move(ok.error()));
      }
    }
    return table;
  }

  segment_query query(const segment_place& at) const noexcept {
    expect_segments();
    const auto bytes = segments_.segments[at.segment].bytes.bytes();
    return {bytes.data(), bytes.size(), at.remainder, at.cell, at.slot_bits};
  }
  segment_view view(const expandable_params& params, const segment_place& at) const noexcept {
    expect_segments();
    return {{params.cell_bits, at.slot_bits}, segments_.segments[at.segment].bytes.bytes()};
  }
  /// True once a copy was counted, even if it was erased since. O(1).
  bool counts_copies() const noexcept { return segments_.counts_copies; }
  bool has_copies(const segment_place& at, hash64 h) const noexcept {
    const std::size_t size = segments_.list[at.segment].counted;
    if (size == 0) [[likely]]
      return false;
    return counted_of(segments_.segments[at.segment].counted.bytes(), size, h) != 0;
  }
  std::uint64_t count(const expandable_params& params, hash64 h) const noexcept {
    const segment_place at = place_of(params, h);
    return view(params, at).copies(at.cell, at.remainder) +
           counted_of(segments_.segments[at.segment].counted.bytes(),
                      segments_.list[at.segment].counted, h);
  }

  /// To be kept alive while so many keys are inserted at once.
  owned_segments::page_choice pages_for(std::size_t keys) noexcept {
    return segments_.pages_for(keys);
  }
  insert_outcome insert(expandable_params& params, hash64 h, const segment_place& at) noexcept {
    expect_segments();
    return segments_.insert(params, h, at);
  }
  insert_outcome insert_absent(expandable_params& params, hash64 h,
                               const segment_place& at) noexcept {
    expect_segments();
    return segments_.insert_absent(params, h, at);
  }
  std::size_t insert_run(expandable_params& params, std::span<const segment_query> queries,
                         std::uint64_t& newly_inserted) noexcept {
    return segments_.insert_run(params, queries, newly_inserted);
  }
  std::size_t insert_bulk(expandable_params& params, std::span<const hash64> hashes,
                          insert_summary& summary) noexcept {
    expect_segments();
    return segments_.insert_bulk(params, hashes, summary);
  }
  bool erase(expandable_params& params, hash64 h, const segment_place& at) noexcept {
    expect_segments();
    return segments_.erase(params, h, at);
  }
  /// Segments in mapped or borrowed memory are checked first; `count` is the size of their filter.
  template <storage Other>
  result<std::uint64_t> unite(expandable_params& params, const expandable_params& theirs,
                              const segment_table<Other>& other, std::uint64_t count,
                              bool only_absent) {
    expect_segments();
    segment_spans others;
    if (!has_memory_for([&] { other.list_spans(others); })) return no_segment_memory();
    if constexpr (!std::same_as<Other, owned_storage>) {
      if (auto ok = check_segments(theirs, others, count); !ok) return fail(std::move(ok.error()));
    }
    return segments_.unite(params, theirs, others, only_absent);
  }
  void clear(expandable_params& params) noexcept {
    expect_segments();
    segments_.clear(params);
  }
  void relocate(const memory_mover& mover) noexcept { segments_.relocate(mover); }

  double rate(const expandable_params& params) const noexcept {
    expect_segments();
    return rate_of(params, segments_.segments);
  }
  double distinct_keys(const expandable_params& params, std::uint64_t count) const noexcept {
    return distinct_keys_of(params, segments_.segments, segments_.list, count);
  }
  segment_spans spans() const {
    segment_spans all;
    list_spans(all);
    return all;
  }
  void list_spans(segment_spans& all) const {
    expect_segments();
    all.bytes.reserve(segments_.segments.size());
    all.counted.reserve(segments_.segments.size());
    for (std::size_t i = 0; i < segments_.segments.size(); ++i) {
      all.bytes.push_back(segments_.segments[i].bytes.bytes());
      all.counted.push_back(segments_.segments[i].counted.bytes().first(segments_.list[i].counted *
                                                                        sizeof(counted_copies)));
    }
  }

  std::uint64_t size_in_bytes() const noexcept {
    expect_segments();
    std::uint64_t all = segments_.list.size() * sizeof(segment_entry);
    for (const auto& each : segments_.segments) all += each.bytes.bytes().size();
    for (const segment_entry& each : segments_.list) all += each.counted * sizeof(counted_copies);
    return all;
  }
  /// The places in query() are valid as long as this number stays the same.
  std::uint64_t changes() const noexcept
    requires owns
  {
    return segments_.changes;
  }
  std::uint64_t moved_bytes() const noexcept {
    if constexpr (owns) return segments_.moved;
    return 0;
  }
  std::vector<std::span<const std::byte>> payload() const {
    expect_segments();
    std::vector<std::span<const std::byte>> all;
    all.reserve(1 + 2 * segments_.segments.size());
    all.push_back(std::as_bytes(std::span(segments_.list)));
    for (std::size_t i = 0; i < segments_.segments.size(); ++i) {
      all.push_back(segments_.segments[i].bytes.bytes());
      const std::size_t counted = segments_.list[i].counted * sizeof(counted_copies);
      if (counted != 0) all.push_back(segments_.segments[i].counted.bytes().first(counted));
    }
    return all;
  }

 private:
  void expect_segments() const noexcept { expect_not_moved_from(!segments_.segments.empty()); }

  std::conditional_t<owns, owned_segments, mapped_segments<Storage>> segments_;
};

}  // namespace bloomery::detail
