// The growth of an expandable filter's plan.

#include <algorithm>
#include <cmath>

#include <bloomery/plan/expandable_plan.hpp>

#include "kinds/expandable/schedule.hpp"

namespace bloomery {

using schedule::allowance;
using schedule::min_remainder;
using schedule::share;
using schedule::weight;

std::uint64_t expandable_params::entries_limit() const noexcept {
  if (is_fixed()) return capacity;
  // Until it is split, a first segment that just got all its cells may have that many entries.
  const std::uint64_t max = !widens() && segments() == 1 ? cells() / 2 * first_load : max_entries();
  return max + max / 4;
}

std::uint64_t expandable_params::room() const noexcept {
  const std::uint64_t segment = std::uint64_t{1} << cell_bits;
  const std::uint64_t before = widens()          ? max_entries() / 2
                               : segments() <= 2 ? segment / 2 * first_load
                                                 : max_entries() - segment / 4 * 3;
  return capacity > before ? capacity : max_entries();
}

namespace {

// The given rate, plus the rate of the entries to come in this doubling, and in the next doubling
// of those for segments not split yet. Summed in this order on every machine.
double with_entries_to_come(const expandable_params& plan, double rate) {
  // The fraction of hashes that a new entry matches, in a segment that was not split, and in one
  // that was.
  const unsigned address_bits = plan.level + plan.cell_bits;
  const double unsplit = std::ldexp(2.0, -static_cast<int>(address_bits + plan.slot_bits));
  const double split = std::ldexp(1.0, -static_cast<int>(address_bits + plan.split_slot_bits));
  const double f = std::ldexp(static_cast<double>(plan.split), -static_cast<int>(plan.level));
  const std::uint64_t all = plan.max_entries() + (plan.is_fixed() ? 1 : 0);
  const auto missing = static_cast<double>(all - std::min(all, plan.entries));
  rate += missing * ((1 - f) * unsplit + f * split);
  if (f != 0 && !plan.is_fixed()) {
    const double entries = std::ldexp(share(0), static_cast<int>(address_bits));
    rate += entries * ((1 - f) * (1 - f) / 2 * unsplit + (1 - f * f) / 2 * split);
    rate += 0.5 * share(plan.split_slot_bits - 1);
  }
  return rate;
}

// Begins the next doubling. While there is one segment its cells double at once, so all entries
// until the next doubling have the new length. Later, half of the entries go to split segments.
bool begin_doubling(expandable_params& next) {
  ++next.generation;
  const bool widens = next.widens();
  const unsigned before = next.slot_bits - 1;
  const double first = next.generation == 1 && !widens ? 0.5 * share(before) : 0;
  const double whole = widens ? weight(next, next.cell_bits + 1, false) : 0.75;
  const auto spends = [&](double x) { return next.spent + first + whole * x; };
  const unsigned address_bits = next.level + next.cell_bits + 1;
  const auto remainder = min_remainder(std::max(1U, before - 1), address_bits,
                                       allowance(next, next.generation), spends);
  if (!remainder || next.generation > schedule::max_generations) return false;
  next.spent = spends(share(*remainder));
  next.split_slot_bits = *remainder + 1;
  return true;
}

// The end of a fixed filter. Its entries have used what they were planned for, and those to come
// get the length that the first doubling beyond allows.
std::optional<expandable_params> outgrown(const expandable_params& fixed) {
  expandable_params next = fixed;
  next.generation = 1;
  next.entries = fixed.capacity + 1;
  for (unsigned bits = std::max(fixed.slot_bits, fixed.split_slot_bits);; ++bits) {
    next.slot_bits = next.split_slot_bits = bits;
    if (!next.possible()) return std::nullopt;
    auto made = next.replanned_for(fixed.spent);
    if (!made || made->generation != 1) continue;
    made->entries = fixed.entries;
    return made;
  }
}

}  // namespace

std::optional<expandable_params> expandable_params::grown() const noexcept {
  expandable_params next = *this;
  if (is_fixed()) return outgrown(next);
  if ((widens() || split == 0) && !begin_doubling(next)) return std::nullopt;
  if (widens()) {
    ++next.cell_bits;
    next.slot_bits = next.split_slot_bits;
    return next;
  }
  ++next.split;
  if (next.split == std::uint64_t{1} << level) {
    ++next.level;
    next.split = 0;
    next.slot_bits = next.split_slot_bits;
  }
  return next;
}

std::optional<expandable_params> expandable_params::replanned_for(double rate) const noexcept {
  expandable_params next = *this;
  next.spent = with_entries_to_come(*this, rate);
  if (is_fixed()) return next.spent > allowance(*this, 0) ? std::nullopt : std::optional(next);
  const bool is_whole = split == 0 && !widens();
  if (is_whole && (generation != 0 || next.spent > allowance(*this, 0))) {
    // grown() adds this itself at the first doubling.
    next.generation = std::max(next.generation, 1U);
    next.spent += 0.5 * share(slot_bits - 1);
  }
  while (next.spent > allowance(*this, next.generation)) {
    if (++next.generation > schedule::max_generations_united) return std::nullopt;
  }
  // The entries of the next doubling are at most 3/2 per cell of a segment.
  const double whole = widens() ? std::max(1.0, weight(*this, cell_bits + 1, false)) : 1;
  const auto remainder =
      min_remainder(1, level + (split != 0) + cell_bits + 1, allowance(*this, next.generation + 1),
                    [&](double x) { return next.spent + whole * x; });
  if (!remainder || !schedule::fits_segment(segment_cell_bits, *remainder, 1.55))
    return std::nullopt;
  return next;
}

std::optional<expandable_params> grown_to(expandable_params params, std::uint64_t keys) {
  params.entries = keys;
  while (params.max_entries() < keys) {
    // Whole doublings at once: the state at the end of one does not depend on its steps.
    auto next = params.grown();
    if (!next) return std::nullopt;
    if (next->split != 0) {
      const std::uint64_t all = std::uint64_t{1} << next->level;
      const std::uint64_t needed = schedule::segments_for(*next, keys);
      next->split = std::min(all - 1, needed > all ? needed - all : 1);
    }
    params = *next;
  }
  return params;
}

}  // namespace bloomery
