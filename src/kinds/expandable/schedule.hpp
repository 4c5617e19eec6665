#pragma once

/// The schedule of rates of an expandable filter, A(g), u(g) and w(g) of plan/expandable_plan.hpp,
/// and the limits of its layout.

#include <algorithm>
#include <bit>
#include <bloomset/detail/expandable/segment_layout.hpp>
#include <bloomset/plan/expandable_plan.hpp>
#include <bloomset/plan/numeric.hpp>
#include <cmath>
#include <cstdint>
#include <optional>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomset::schedule {

inline constexpr unsigned hash_bits = 63;  // of segment, cell and remainder together
inline constexpr unsigned min_cell_bits = detail::block_cell_bits;
inline constexpr unsigned max_segment_cell_bits = 14;
inline constexpr unsigned min_segment_cell_bits = 12;
// With growth 1: a mixture of two remainder lengths needs at least three segments.
inline constexpr unsigned min_fixed_segment_cell_bits = 8;
// Hashes have bits for at most 50 doublings. A union may begin as if after this many.
inline constexpr std::uint32_t max_generations_united = 64;
inline constexpr std::uint32_t max_generations = 128;

// Entries per cell when a whole segment is split: max_entries().
inline constexpr double load = 0.75;
// The same, at most, in a filter that is not expected to split any. It needs the fewest bits
// at 1.1.
inline constexpr double max_fixed_load = 1.2;
// Higher rates are planned as this one (plan_expandable).
inline constexpr double max_planned_rate = 0.5;
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
// Evenness of the doublings' shares if the growth is unknown. A larger number costs bits in filters
// that never grow and saves bits in filters that grow far. Remainders from 2^6 to 2^27 keys at 1%
// have 10 to 12 bits with 8, and 8 to 15 bits with 1.
inline constexpr double evenness = 8;
// A widening counts as so much of a doubling if the growth is unknown: longer entries at first, and
// shorter ones for ever after.
inline constexpr double pace_of_first = 0.6;

inline bool is_growth(double x) {
  return x == 0 || (x >= 1 && x <= 0x1p50);
}

/// log2 of the cells per segment of the empty filter.
inline unsigned first_cell_bits(const expandable_params& plan) {
  const std::uint64_t cells = (plan.capacity + plan.first_load - 1) / plan.first_load;
  return std::clamp(static_cast<unsigned>(std::bit_width(cells - 1)), min_cell_bits,
                    plan.segment_cell_bits);
}

/// Segments for this number of entries, once each has all its cells.
inline std::uint64_t segments_for(const expandable_params& plan, std::uint64_t entries) {
  const std::uint64_t full = (std::uint64_t{1} << plan.cell_bits) / 4 * 3;
  return entries / full + (entries % full != 0);
}

/// w(g) of a single segment that has, or is widened to, 2^cell_bits cells.
inline double weight(const expandable_params& plan, unsigned cell_bits, bool is_first) {
  const bool is_whole = cell_bits == plan.segment_cell_bits;
  return is_whole ? 0 : (is_first ? 1 : 0.5) * plan.first_load / load;
}

/// A(g) for a known growth.
inline double part_of_known(const expandable_params& plan, double generation) {
  if (plan.growth == 1) return 1 - rate_beyond_much / (generation + 1);
  const unsigned first = first_cell_bits(plan);
  const unsigned widenings = plan.segment_cell_bits - first;
  // Doublings until the expected size, at least one: a filter that is not expected to grow may grow
  // a little.
  double doublings = std::ceil(numeric::log2(plan.growth));
  if (widenings != 0) {
    const double keys = static_cast<double>(plan.capacity) * std::max(1.0, plan.growth);
    const double cells = keys / plan.first_load;
    const bool is_small = cells <= std::ldexp(0.5, static_cast<int>(plan.segment_cell_bits));
    doublings = std::ceil(numeric::log2(is_small ? cells : keys / load)) - first;
  }
  const double expected = std::max(1.0, doublings);
  const bool outgrows_segment = widenings != 0 && expected > widenings;
  const double kept = outgrows_segment ? rate_beyond_much : rate_beyond_little;
  if (generation > expected) return 1 - kept / (generation - expected + 1);
  const auto units = [&](double g) {  // u(g)
    if (widenings == 0) return g == 0 ? 1 : 1.5 + 0.75 * g;
    double sum = 0;
    for (unsigned i = 0; i <= widenings && i <= g; ++i) {
      const double share = !outgrows_segment                 ? 1
                           : first + i <= smallest_cell_bits ? share_of_smallest
                                                             : share_of_first;
      sum += share * weight(plan, first + i, i == 0);
    }
    return sum + 0.75 * std::max(0.0, g - widenings);
  };
  return (1 - kept) * units(generation) / units(expected);
}

/// A(g) if the growth is unknown.
inline double part_of_unknown(const expandable_params& plan, double generation) {
  const double early = std::min<double>(generation, plan.segment_cell_bits - first_cell_bits(plan));
  return 1 - evenness / (generation - early * (1 - pace_of_first) + evenness + 1);
}

/// The rate that doubling g and all before it may spend.
inline double allowance(const expandable_params& plan, double generation) {
  const double part =
      plan.growth == 0 ? part_of_unknown(plan, generation) : part_of_known(plan, generation);
  return std::min(plan.fpr, max_planned_rate) * planned_share * part;
}

/// s_g for remainders of this number of bits.
inline double share(unsigned remainder_bits) {
  return load * std::ldexp(1.0, -static_cast<int>(remainder_bits));
}

/// The least remainder of at least `min` bits for which spent(share of the rate per remainder) is
/// at most `allowed`. Nothing if hashes have too few bits.
template <class Spent>
std::optional<unsigned> min_remainder(unsigned min, unsigned address_bits, double allowed,
                                      Spent&& spent) {
  for (unsigned bits = min; address_bits + bits <= hash_bits && bits < detail::max_slot_bits;
       ++bits) {
    if (spent(share(bits)) <= allowed) return bits;
  }
  return std::nullopt;
}

/// True if 16-bit block offsets can address a segment with this number of entries per cell.
inline bool fits_segment(unsigned cell_bits, unsigned remainder_bits, double entries) {
  const double slot = (remainder_bits + 1 + 1) / 8.0;  // with the marker, and a bit of the code
  return std::ldexp(entries * slot + 5.0 / 32, static_cast<int>(cell_bits)) <=
         detail::max_segment_area;
}

}  // namespace bloomset::schedule

#pragma GCC visibility pop
