#pragma once

/// Rate and distinct keys of a list of segments.

#include <bloomery/detail/expandable/segment_address.hpp>
#include <bloomery/detail/expandable/segment_kernels.hpp>
#include <bloomery/detail/expandable/segment_list.hpp>
#include <bloomery/plan/formulas.hpp>
#include <cstdint>

namespace bloomery::detail {

/// The fraction of all hashes that match an entry. O(size).
template <class Segments>
double rate_of(const expandable_params& params, const Segments& segments) noexcept {
  double matching = 0;
  for (std::uint64_t i = 0; i < params.segments(); ++i) {
    const double here =
        segment_ops().census(shape_of(params, i), segments[i].bytes.bytes()).rate(params.cell_bits);
    matching += is_split(params, i) ? here / 2 : here;
  }
  return detail::min(1.0, matching / static_cast<double>(std::uint64_t{1} << params.level));
}

/// The estimated distinct keys of `count` copies. O(size).
///
/// An entry without a remainder is in two cells after each doubling. The number of entries minus
/// the number of copies in the table is therefore the number of such duplicates, which are no keys.
template <class Segments>
double distinct_keys_of(const expandable_params& params, const Segments& segments,
                        std::uint64_t count) noexcept {
  segment_census::key_estimate sum{};
  double whole_cells = 0;
  double counted = 0;
  for (std::uint64_t i = 0; i < params.segments(); ++i) {
    const auto found = segment_ops().census(shape_of(params, i), segments[i].bytes.bytes());
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
  return formulas::distinct_among(static_cast<double>(count), sum.seen_in_others, sum.others);
}

}  // namespace bloomery::detail
