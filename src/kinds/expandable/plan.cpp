#include <bloomery/plan/expandable_plan.hpp>

#include <algorithm>
#include <bit>
#include <bloomery/plan/limits.hpp>
#include <bloomery/plan/numeric.hpp>
#include <bloomery/plan/units.hpp>

#include <cmath>
#include <string>
#include <utility>

#include "core/format.hpp"
#include "kinds/expandable/schedule.hpp"
#include "plan/checks.hpp"

namespace bloomery {
namespace {

using schedule::allowance;
using schedule::fits_segment;
using schedule::min_remainder;
using schedule::share;

result<void> check_ranges(const expandable_spec& spec) {
  if (auto ok = detail::check_common(spec); !ok) return ok;
  if (spec.fpr == 0 && (spec.capacity == 0 || spec.bits == 0)) {
    return detail::refuse(
        "an expandable filter's rate is open; give it, or both capacity and memory to begin with");
  }
  if (!schedule::is_growth(spec.growth)) {
    return detail::refuse(
        "a growth of {} is out of range; give 1 to 2^50, or leave it out if it is unknown",
        spec.growth);
  }
  return {};
}

/// log2 of a segment's cells: the most that block offsets can address. Just before a split a
/// segment has at most 1.5 entries per cell, and a tenth more by chance. Slots grow by six bits in
/// the long run, or by thirteen in a filter that may grow far beyond what was foretold.
unsigned segment_cell_bits(unsigned remainder_bits, bool is_foretold) {
  const unsigned longest = remainder_bits + (is_foretold ? 13 : 6);
  unsigned bits = schedule::max_segment_cell_bits;
  while (bits > schedule::min_segment_cell_bits && !fits_segment(bits, longest, 1.65)) --bits;
  return bits;
}

/// Sets cells and segments of the empty filter.
bool plan_segments(expandable_params& plan) {
  // The size of a segment depends on the rate of a filter that is never widened.
  plan.segment_cell_bits = schedule::min_cell_bits;
  const auto without_growth = min_remainder(1, 0, allowance(plan, 0), [](double x) { return x; });
  if (!without_growth) return false;
  plan.segment_cell_bits = segment_cell_bits(*without_growth, plan.growth != 0);
  plan.cell_bits = schedule::first_cell_bits(plan);
  const std::uint64_t cells = plan.widens() ? 1 : schedule::first_cells(plan.capacity);
  const std::uint64_t segment = std::uint64_t{1} << plan.cell_bits;
  const std::uint64_t segments = cells / segment + (cells % segment != 0);
  plan.level = static_cast<unsigned>(std::bit_width(segments)) - 1;
  plan.split = segments - (std::uint64_t{1} << plan.level);
  plan.generation = plan.split == 0 ? 0 : 1;
  return true;
}

/// Sets the slots of the empty filter, and the rate that its planned keys spend.
///
/// A filter that begins within a doubling has split and unsplit segments. A key's fraction of
/// hashes in a split one is half as large. `begun` is what the planned keys add, `to_come` what the
/// other keys of this doubling add, and in the first half of the next those in split segments.
bool plan_slots(expandable_params& plan) {
  const double f = std::ldexp(static_cast<double>(plan.split), -static_cast<int>(plan.level));
  const double begun =
      plan.widens() ? schedule::weight(plan, plan.cell_bits, true) : (1 + f) * (1 - f / 2);
  const double to_come = f == 0 ? 0 : (1 - f) - (1 - f * f) / 4 + 0.5;
  const unsigned address_bits = plan.level + (plan.split != 0) + plan.cell_bits;
  auto remainder =
      min_remainder(1, address_bits, allowance(plan, 0), [&](double x) { return begun * x; });
  if (remainder && f != 0) {
    remainder = min_remainder(*remainder, address_bits, allowance(plan, 1),
                              [&](double x) { return (begun + to_come) * x; });
  }
  if (!remainder) return false;
  plan.slot_bits = *remainder + 1;
  plan.split_slot_bits = plan.slot_bits;
  plan.spent = (begun + to_come) * share(*remainder);
  return true;
}

/// Nothing if 64-bit hashes cannot serve so many keys at that rate.
std::optional<expandable_params> plan_for(const expandable_spec& spec, std::uint64_t capacity,
                                          double fpr) {
  expandable_params plan;
  plan.capacity = capacity;
  plan.fpr = fpr;
  plan.growth = spec.growth;
  plan.seed = spec.seed;
  if (capacity > max_keys || !plan_segments(plan) || !plan_slots(plan)) return std::nullopt;
  return plan;
}

bool fits(const expandable_spec& spec, const std::optional<expandable_params>& plan) {
  return plan && (spec.bits == 0 || planned_bytes(*plan) <= spec.bits / 8);
}

/// The most keys that fit into the given bits.
std::uint64_t max_capacity(const expandable_spec& spec) {
  std::uint64_t capacity = 0;
  std::uint64_t beyond = std::min(spec.bits, max_keys) + 1;
  while (beyond - capacity > 1) {
    const std::uint64_t middle = capacity + (beyond - capacity) / 2;
    (fits(spec, plan_for(spec, middle, spec.fpr)) ? capacity : beyond) = middle;
  }
  return capacity;
}

/// The lowest rate at which the given keys fit into the given bits.
double min_rate(const expandable_spec& spec) {
  double low = -62;
  double high = -1e-3;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (fits(spec, plan_for(spec, spec.capacity, numeric::exp2(middle))) ? high : low) = middle;
  }
  return numeric::exp2(high);
}

}  // namespace

result<expandable_params> plan_expandable(const expandable_spec& spec) {
  if (auto ok = check_ranges(spec); !ok) return fail(std::move(ok.error()));
  std::uint64_t capacity = spec.capacity;
  double fpr = spec.fpr;
  if (spec.bits != 0 && capacity == 0) {
    capacity = max_capacity(spec);
  } else if (spec.bits != 0 && fpr == 0) {
    fpr = min_rate(spec);
  } else if (capacity == 0) {
    capacity = default_expandable_capacity;
  }
  const auto plan = capacity == 0 ? std::nullopt : plan_for(spec, capacity, fpr);
  if (spec.bits != 0 && !fits(spec, plan)) {
    return detail::refuse("{} bits are too few for {}; give more memory, or leave it out",
                          format_count(spec.bits),
                          spec.capacity == 0 ? std::string("an expandable filter of that rate")
                                             : format_count(spec.capacity) + " keys to begin with");
  }
  if (!plan) {
    return detail::refuse(
        "{} keys at a rate of {:.3g} are beyond what 64-bit hashes can promise; give fewer keys or "
        "a higher rate",
        format_count(capacity), fpr);
  }
  return *plan;
}

}  // namespace bloomery
