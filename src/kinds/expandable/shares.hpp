#pragma once

/// How an expandable filter's rate is shared out among its doublings: the A(g), u(g) and w(g) of
/// plan/expandable_plan.hpp.

#include <algorithm>
#include <bit>
#include <bloomery/detail/expandable/segment_layout.hpp>
#include <bloomery/plan/expandable_plan.hpp>
#include <bloomery/plan/numeric.hpp>
#include <cmath>
#include <cstdint>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomery::expandable_shares {

inline constexpr double load = 0.75;  // entries a cell when a segment is to be split: max_entries()
// And when a single one that is smaller is to be widened. Its blocks are half empty after that;
// with 3/4 there, too, filters of 128 to 16,384 keys took up to 2 bits a key more.
inline constexpr unsigned load_of_first = 2;

// The part of the rate that is planned with; the rest is for the chance of which keys come.
inline constexpr double planned_share = 63.0 / 64;
// What a filter that has outgrown its hint may still spend: one that was expected to stay in one
// segment, and another.
inline constexpr double rate_beyond_little = 1.0 / 16;
inline constexpr double rate_beyond_much = 1.0 / 32;
// What the doublings of a single segment get of the rate, beside those of whole ones, so that keys
// take as much in all: full cells need little more than slots, but for what is fixed where they are
// few. Grown from 64 keys at 1% a filter has at most 16.1 bits a key then at each doubling from 256
// keys on, up to 2^28, however far it is known to grow.
inline constexpr double share_of_first = 0.4;
inline constexpr double share_of_smallest = 0.7;
inline constexpr unsigned smallest_cell_bits = 7;
// The same in files from before load_of_first.
inline constexpr double share_of_first_before = 1.2;
// The larger, the more even are the doublings' shares: it costs bits in filters that never grow,
// and saves them in those that grow far. From 2^6 to 2^27 keys at 1% the lengths go from 10 to 12;
// with 1 instead of 8, from 8 to 15.
inline constexpr double evenness = 8;
// A doubling of a single segment counts as so much of one there: keys take more bits at first, and
// for ever fewer.
inline constexpr double pace_of_first = 0.6;

inline constexpr unsigned min_cell_bits = detail::block_cell_bits;

/// Expected doublings. Also a filter that is not to grow may have to a little: one at the least.
inline double doublings(double growth) {
  return std::max(1.0, std::ceil(numeric::log2(growth)));
}

/// log2 of the cells that a filter begins with, if they are one segment.
inline unsigned first_cell_bits(std::uint64_t cells, unsigned segment_cell_bits) {
  if (cells > std::uint64_t{1} << segment_cell_bits) return segment_cell_bits;
  return std::max(min_cell_bits, static_cast<unsigned>(std::bit_width(cells - 1)));
}
/// 4/3 of a cell a key; capacities are at most 2^57.
inline std::uint64_t first_cells(std::uint64_t capacity) {
  return capacity + (capacity + 2) / 3;
}
/// The same for a plan, whose single segment may be filled otherwise while it is not whole.
inline unsigned first_cell_bits(const expandable_params& plan) {
  if (plan.first_load != 0) {
    const unsigned bits = first_cell_bits((plan.capacity + plan.first_load - 1) / plan.first_load,
                                          plan.segment_cell_bits);
    if (bits < plan.segment_cell_bits) return bits;
  }
  return first_cell_bits(first_cells(plan.capacity), plan.segment_cell_bits);
}

/// Doublings of cells until there are those of a plan that has become as large as expected.
inline double expected_doublings(const expandable_params& plan) {
  const unsigned first = first_cell_bits(plan);
  if (plan.first_load == 0 || first == plan.segment_cell_bits) return doublings(plan.growth);
  const double keys = static_cast<double>(plan.capacity) * std::max(1.0, plan.growth);
  const double cells = keys / plan.first_load;
  const bool is_small = cells <= std::ldexp(0.5, static_cast<int>(plan.segment_cell_bits));
  return std::max(1.0, std::ceil(numeric::log2(is_small ? cells : keys / load)) - first);
}

/// w(g) of a single segment (plan_expandable) that has so many cells then.
inline double weight(const expandable_params& plan, unsigned cell_bits, bool is_first) {
  const bool is_whole = cell_bits == plan.segment_cell_bits;
  if (plan.first_load == 0) return is_first || is_whole ? 1 : 0.5;
  if (is_whole) return is_first ? 1 : 0;
  return (is_first ? 1 : 0.5) * plan.first_load / load;
}

/// How a growth that is known shares the rate out.
class sharing {
 public:
  explicit sharing(double growth) : expected_(doublings(growth)) {}
  explicit sharing(const expandable_params& plan)
      : expected_(expected_doublings(plan)),
        plan_(&plan),
        first_cell_bits_(first_cell_bits(plan)),
        widenings_(plan.segment_cell_bits - first_cell_bits_),
        is_far_(widenings_ != 0 && expected_ > widenings_) {}

  /// A(g).
  double part(double generation) const {
    const double kept = is_far_ ? rate_beyond_much : rate_beyond_little;
    if (generation > expected_) return 1 - kept / (generation - expected_ + 1);
    return (1 - kept) * units(generation) / units(expected_);
  }

 private:
  double units(double generation) const {
    const bool is_before = plan_ == nullptr || plan_->first_load == 0;
    if (widenings_ == 0 || (is_before && !is_far_)) {
      return generation == 0 ? 1 : 1.5 + 0.75 * generation;
    }
    double sum = 0;
    for (unsigned g = 0; g <= widenings_ && g <= generation; ++g) {
      const unsigned cell_bits = first_cell_bits_ + g;
      double share = 1;
      if (is_far_) {
        share = is_before                         ? share_of_first_before
                : cell_bits <= smallest_cell_bits ? share_of_smallest
                                                  : share_of_first;
      }
      sum += share * weight(*plan_, cell_bits, g == 0);
    }
    return sum + 0.75 * std::max(0.0, generation - widenings_);
  }

  double expected_;
  const expandable_params* plan_ = nullptr;  // null: as if all segments were whole
  unsigned first_cell_bits_ = 0;
  unsigned widenings_ = 0;  // doublings, of those expected or beyond, of a single segment
  bool is_far_ = false;     // that one is expected to be split
};

/// A(g) where growth is unknown.
inline double part_of_unknown(const expandable_params& plan, double generation) {
  const double widenings =
      plan.first_load == 0 ? 0 : plan.segment_cell_bits - first_cell_bits(plan);
  const double early = std::min(generation, widenings);
  return 1 - evenness / (generation - early * (1 - pace_of_first) + evenness + 1);
}

/// What doubling g and all before it may add to the rate.
inline double allowance(const expandable_params& plan, double generation) {
  const double rate = plan.fpr * planned_share;
  if (plan.growth == 0) return rate * part_of_unknown(plan, generation);
  const sharing planned(plan);
  // Files from before this rule have it shared out as if that were not far, and go on so.
  if (generation > 0 && plan.spent > rate * planned.part(generation - 1)) {
    return rate * sharing(plan.growth).part(generation);
  }
  return rate * planned.part(generation);
}

inline double share(unsigned remainder_bits) {
  return load * std::ldexp(1.0, -static_cast<int>(remainder_bits));
}

}  // namespace bloomery::expandable_shares

#pragma GCC visibility pop
