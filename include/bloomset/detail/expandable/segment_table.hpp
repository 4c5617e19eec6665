#pragma once

/// The segments of an expandable filter over any storage, and their rate and distinct keys.

#include <bloomset/detail/core/precondition.hpp>
#include <bloomset/detail/expandable/owned_segments.hpp>
#include <bloomset/plan/formulas.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace bloomset::detail {

/// Segments in mapped or borrowed memory, to be read.
template <storage Storage>
struct mapped_segments {
  struct segment {
    Storage bytes;
    Storage counted;  ///< counted_copies

    std::span<const std::byte> copies() const noexcept { return counted.bytes(); }
  };
  std::vector<segment> segments;
  std::vector<segment_entry> list;
  bool counts_copies = false;
  static constexpr std::uint64_t changes = 0;
};

/// Segments with the operations that read them.
template <storage Storage>
class segment_table : public std::conditional_t<std::same_as<Storage, owned_storage>,
                                                owned_segments, mapped_segments<Storage>> {
  static constexpr bool owns = std::same_as<Storage, owned_storage>;

 public:
  using base = std::conditional_t<owns, owned_segments, mapped_segments<Storage>>;
  using base::counts_copies;
  using base::list;
  using base::segments;

  segment_table() = default;
  explicit segment_table(base&& made) noexcept : base(std::move(made)) {}

  static result<segment_table> open(const expandable_params& params, const Storage& payload,
                                    std::uint64_t count) {
    const auto all = payload.bytes();
    const auto spans = read_segment_list(params, all, count);
    if (!spans) return fail(spans.error());
    segment_table table;
    if constexpr (owns) {
      if (auto ok = check_segments(params, *spans, count); !ok) return fail(ok.error());
      if (!has_memory_for([&] { table.copy(*spans); })) return no_segment_memory();
    } else {
      const auto slice = [&](std::span<const std::byte> part) {
        return payload.slice(static_cast<std::size_t>(part.data() - all.data()), part.size());
      };
      table.segments.reserve(spans->size());
      for (const auto& [bytes, copies] : *spans) {
        table.segments.push_back({slice(bytes), slice(copies)});
      }
    }
    table.list.resize(spans->size());
    std::memcpy(table.list.data(), all.data(), spans->size() * sizeof(segment_entry));
    for (const segment_entry& each : table.list) table.counts_copies |= each.counted != 0;
    return table;
  }

  segment_query query(const segment_place& at) const noexcept {
    const auto bytes = segments[at.segment].bytes.bytes();
    return {bytes.data(), bytes.size(), at.remainder, at.cell, at.slot_bits};
  }
  /// The first byte of a segment in the payload.
  std::uint64_t offset(std::uint64_t number) const noexcept
    requires(!owns)
  {
    const auto first = segments.front().bytes.bytes();
    return list.size() * sizeof(segment_entry) +
           static_cast<std::uint64_t>(segments[number].bytes.bytes().data() - first.data());
  }
  /// Copies that are counted beside the table.
  std::uint64_t counted(const segment_place& at, hash64 h) const noexcept {
    return counts_copies ? counted_of(segments[at.segment].copies(), h) : 0;
  }

  std::vector<std::span<const std::byte>> payload() const {
    std::vector<std::span<const std::byte>> all;
    all.reserve(1 + 2 * segments.size());
    all.push_back(std::as_bytes(std::span(list)));
    for (const auto& each : segments) {
      all.push_back(each.bytes.bytes());
      if (!each.copies().empty()) all.push_back(each.copies());
    }
    return all;
  }
  std::uint64_t size_in_bytes() const noexcept {
    std::uint64_t all = list.size() * sizeof(segment_entry);
    for (const auto& each : segments) all += each.bytes.bytes().size() + each.copies().size();
    return all;
  }
};

struct table_figures {
  double rate;           ///< the fraction of all hashes that match an entry
  double distinct_keys;  ///< estimated
};

/// The figures of a table with `count` copies of keys. O(size).
///
/// An entry without a remainder is in two cells after each doubling. The number of entries minus
/// the number of copies in the table is therefore the number of such duplicates, which are not
/// keys.
template <class Segments>
table_figures figures_of(const expandable_params& params, const Segments& segments,
                         std::uint64_t count) noexcept {
  double matching = 0;
  segment_census::key_estimate sum{};
  double whole_cells = 0;
  double counted = 0;
  for (std::uint64_t i = 0; i < params.segments(); ++i) {
    const auto found = segment_ops().census(shape_of(params, i), segments[i].bytes.bytes());
    const double matching_here = found.rate(params.cell_bits);
    matching += is_split(params, i) ? matching_here / 2 : matching_here;
    const auto here = found.keys(params.cell_bits);
    sum.of_whole_cells += here.of_whole_cells;
    sum.others += here.others;
    sum.seen_in_whole_cells += here.seen_in_whole_cells;
    sum.seen_in_others += here.seen_in_others;
    whole_cells += static_cast<double>(found.whole_cells);
    const auto copies = segments[i].copies();
    for (std::size_t k = 0; k < copies.size() / sizeof(counted_copies); ++k) {
      counted += static_cast<double>(copies_at(copies, k).copies);
    }
  }
  const double surplus = static_cast<double>(params.entries) + counted - static_cast<double>(count);
  const double keys_in_whole_cells = detail::min(whole_cells, whole_cells - surplus);
  if (keys_in_whole_cells > 0) {
    const double share = keys_in_whole_cells / whole_cells;
    sum.others += sum.of_whole_cells * share;
    sum.seen_in_others += sum.seen_in_whole_cells * share;
  }
  return {detail::min(1.0, matching / static_cast<double>(std::uint64_t{1} << params.level)),
          formulas::distinct_among(static_cast<double>(count), sum.seen_in_others, sum.others)};
}

}  // namespace bloomset::detail
