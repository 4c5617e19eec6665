#pragma once

/// The schedule of rates of an expandable filter: A(g), u(g) and w(g) of plan/expandable_plan.hpp.

#include <algorithm>
#include <bit>
#include <bloomery/detail/expandable/segment_layout.hpp>
#include <bloomery/plan/expandable_plan.hpp>
#include <bloomery/plan/numeric.hpp>
#include <cmath>
#include <cstdint>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomery::expandable_shares {

// Entries per cell when a whole segment is split: max_entries().
inline constexpr double load = 0.75;
// Entries per cell when a single small segment is widened, which halves its load. With 3/4, filters
// of 128 to 16,384 keys had up to 2 bits per key more.
inline constexpr unsigned load_of_first = 2;

// The part of the rate that is planned with. The rest is for the chance of which keys come.
inline constexpr double planned_share = 63.0 / 64;
// The part that a filter beyond its expected growth may still spend, if it was expected to stay in
// one segment, and otherwise.
inline constexpr double rate_beyond_little = 1.0 / 16;
inline constexpr double rate_beyond_much = 1.0 / 32;
// Weights of the doublings of a single segment in u(g), so that the bits per key are even over all
// sizes: full cells need few bits beside their slots. Grown from 64 keys at 1%, a filter has at
// most 16.1 bits per key at each doubling from 256 to 2^28 keys, however far it is known to grow.
inline constexpr double share_of_first = 0.4;
inline constexpr double share_of_smallest = 0.7;
inline constexpr unsigned smallest_cell_bits = 7;
// The same in files from before load_of_first.
inline constexpr double share_of_first_before = 1.2;
// Evenness of the doublings' shares if the growth is unknown. A larger number costs bits in filters
// that never grow and saves bits in filters that grow far. Remainders from 2^6 to 2^27 keys at 1%
// have 10 to 12 bits with 8, and 8 to 15 bits with 1.
inline constexpr double evenness = 8;
// A widening counts as so much of a doubling if the growth is unknown: longer entries at first, and
// shorter ones for ever after.
inline constexpr double pace_of_first = 0.6;

inline constexpr unsigned min_cell_bits = detail::block_cell_bits;

/// Expected doublings, at least one: a filter that is not expected to grow may grow a little.
inline double doublings(double growth) {
  return std::max(1.0, std::ceil(numeric::log2(growth)));
}

/// log2 of the cells per segment of a filter that begins with so many cells.
inline unsigned first_cell_bits(std::uint64_t cells, unsigned segment_cell_bits) {
  if (cells > std::uint64_t{1} << segment_cell_bits) return segment_cell_bits;
  return std::max(min_cell_bits, static_cast<unsigned>(std::bit_width(cells - 1)));
}
/// Cells for so many keys: 4/3 per key. Capacities are at most 2^57.
inline std::uint64_t first_cells(std::uint64_t capacity) {
  return capacity + (capacity + 2) / 3;
}
/// The same for a plan, whose single segment has another load while it is not whole.
inline unsigned first_cell_bits(const expandable_params& plan) {
  if (plan.first_load != 0) {
    const unsigned bits = first_cell_bits((plan.capacity + plan.first_load - 1) / plan.first_load,
                                          plan.segment_cell_bits);
    if (bits < plan.segment_cell_bits) return bits;
  }
  return first_cell_bits(first_cells(plan.capacity), plan.segment_cell_bits);
}

/// Doublings of the cells until a plan has reached its expected size.
inline double expected_doublings(const expandable_params& plan) {
  const unsigned first = first_cell_bits(plan);
  if (plan.first_load == 0 || first == plan.segment_cell_bits) return doublings(plan.growth);
  const double keys = static_cast<double>(plan.capacity) * std::max(1.0, plan.growth);
  const double cells = keys / plan.first_load;
  const bool is_small = cells <= std::ldexp(0.5, static_cast<int>(plan.segment_cell_bits));
  return std::max(1.0, std::ceil(numeric::log2(is_small ? cells : keys / load)) - first);
}

/// w(g) of a single segment of 2^cell_bits cells.
inline double weight(const expandable_params& plan, unsigned cell_bits, bool is_first) {
  const bool is_whole = cell_bits == plan.segment_cell_bits;
  if (plan.first_load == 0) return is_first || is_whole ? 1 : 0.5;
  if (is_whole) return is_first ? 1 : 0;
  return (is_first ? 1 : 0.5) * plan.first_load / load;
}

/// The schedule for a known growth.
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
  unsigned widenings_ = 0;  // doublings of a single segment until it is whole
  bool is_far_ = false;     // expected to outgrow one segment
};

/// A(g) if the growth is unknown.
inline double part_of_unknown(const expandable_params& plan, double generation) {
  const double widenings =
      plan.first_load == 0 ? 0 : plan.segment_cell_bits - first_cell_bits(plan);
  const double early = std::min(generation, widenings);
  return 1 - evenness / (generation - early * (1 - pace_of_first) + evenness + 1);
}

/// The rate that doubling g and all before it may spend.
inline double allowance(const expandable_params& plan, double generation) {
  const double rate = plan.fpr * planned_share;
  if (plan.growth == 0) return rate * part_of_unknown(plan, generation);
  const sharing planned(plan);
  // Files from before this schedule follow that of a near growth.
  if (generation > 0 && plan.spent > rate * planned.part(generation - 1)) {
    return rate * sharing(plan.growth).part(generation);
  }
  return rate * planned.part(generation);
}

/// s_g for remainders of so many bits.
inline double share(unsigned remainder_bits) {
  return load * std::ldexp(1.0, -static_cast<int>(remainder_bits));
}

}  // namespace bloomery::expandable_shares

#pragma GCC visibility pop
