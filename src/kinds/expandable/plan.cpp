#include <bloomset/plan/expandable_plan.hpp>

#include <algorithm>
#include <bit>
#include <bloomset/detail/expandable/segment_layout.hpp>
#include <bloomset/plan/limits.hpp>
#include <bloomset/plan/numeric.hpp>
#include <bloomset/plan/units.hpp>

#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "kinds/expandable/schedule.hpp"
#include "plan/checks.hpp"
#include "plan/search.hpp"

namespace bloomset {
namespace {

using schedule::allowance;
using schedule::fits_segment;
using schedule::min_remainder;
using schedule::share;
using schedule::weight;

result<void> check_ranges(const expandable_spec& spec) {
  if (auto ok = detail::check_common(spec); !ok) return ok;
  if (spec.fpr == 0 && (spec.capacity == 0 || spec.bits == 0)) {
    return detail::refuse(
        "an expandable filter's rate is missing; give it, or both capacity and memory to begin "
        "with");
  }
  if (!schedule::is_growth(spec.growth)) {
    return detail::refuse(
        "a growth of {} is out of range; give 1 to 2^50, or leave it out if it is unknown",
        spec.growth);
  }
  return {};
}

/// log2 of a segment's cells: the most that block offsets can address. Just before a split a
/// segment has at most 1.5 entries per cell, and a tenth more by chance. In the long run slots grow
/// by six bits, or by thirteen in a filter that may grow far beyond the given growth.
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
  const std::uint64_t segments = plan.widens() ? 1 : schedule::segments_for(plan, plan.capacity);
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
  const double begun = plan.widens() ? weight(plan, plan.cell_bits, true) : (1 + f) * (1 - f / 2);
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

/// The smallest plan of a filter with growth 1 whose rate at its capacity is at most allowance(0).
///
/// An entry of an unsplit segment keeps `size` bits of its key's hash, and one of a split segment
/// `more` bits more. The mean rate per entry is 2^-size (1 - f (1 - 2^-more)) for the share f of
/// split segments. Remainders are whole bits, but f brings the mean near to what is allowed.
std::optional<expandable_params> plan_fixed(const expandable_params& one_segment) {
  // The key that ends the plan is inserted too.
  const auto keys = static_cast<double>(one_segment.capacity + 1);
  const double allowed = allowance(one_segment, 0) / keys;
  std::optional<expandable_params> best;
  double best_bits = 0;
  const auto consider = [&](expandable_params plan, int size, int more) {
    const double f = std::ldexp(static_cast<double>(plan.split), -static_cast<int>(plan.level));
    const int slot = size - static_cast<int>(plan.level + plan.cell_bits) + 1;
    const int split_slot = plan.split == 0 ? slot : slot + more - 1;
    plan.slot_bits = static_cast<unsigned>(std::max(slot, 0));
    plan.split_slot_bits = static_cast<unsigned>(std::max(split_slot, 0));
    plan.spent = keys * std::ldexp(1 - f * (1 - std::ldexp(1.0, -more)), -size);
    if (plan.spent > allowed * keys || !plan.possible()) return;
    // A filter that leaves a fifth of the rate unused must be 12% smaller.
    const double unused = plan.spent < 0.8 * plan.fpr ? 1.12 : 1;
    const double bits = unused * expandable_bits(plan, plan.capacity);
    if (best && best_bits <= bits) return;
    best = plan;
    best_bits = bits;
  };
  const int size = -std::ilogb(allowed);  // the least with 2^-size <= allowed
  for (int shorter = 1; shorter >= -1; --shorter) {
    if (one_segment.widens()) {
      consider(one_segment, std::max(size - shorter, static_cast<int>(one_segment.cell_bits) + 1),
               0);
    }
    for (unsigned bits = schedule::min_fixed_segment_cell_bits;
         bits <= one_segment.segment_cell_bits; ++bits) {
      expandable_params plan = one_segment;
      plan.segment_cell_bits = plan.cell_bits = bits;
      const double min_segments =
          std::ldexp(keys / schedule::max_fixed_load, -static_cast<int>(bits));
      const int level = std::max(0, std::ilogb(min_segments));
      for (int up = 0; up < 2; ++up) {
        const double unsplit = std::ldexp(1.0, level + up);
        for (int more = 0; more < 4; ++more) {
          // The least f, or all segments if none serves.
          const double over = 1 - allowed / std::ldexp(1.0, shorter - size);
          const double f = over <= 0 ? 0 : more == 0 ? 1 : over / (1 - std::ldexp(1.0, -more));
          const double split = std::ceil(std::max(f * unsplit, min_segments - unsplit));
          if (split >= unsplit) continue;
          plan.level = static_cast<unsigned>(level + up);
          plan.split = static_cast<std::uint64_t>(std::max(split, 0.0));
          consider(plan, size - shorter, more);
        }
      }
    }
  }
  return best;
}

/// Nothing if 64-bit hashes cannot serve that many keys at the rate.
std::optional<expandable_params> plan_for(const expandable_spec& spec, std::uint64_t capacity,
                                          double fpr) {
  expandable_params plan{
      .capacity = capacity, .fpr = fpr, .growth = spec.growth, .seed = spec.seed};
  if (capacity > max_keys || !plan_segments(plan)) return std::nullopt;
  if (plan.growth == 1) {
    plan.generation = 0;
    return plan_fixed(plan);
  }
  if (!plan_slots(plan)) return std::nullopt;
  return plan;
}

bool fits(const expandable_spec& spec, const std::optional<expandable_params>& plan) {
  return plan && (spec.bits == 0 || planned_bytes(*plan) <= spec.bits / 8);
}

/// The most keys that fit into the given bits.
std::uint64_t max_capacity(const expandable_spec& spec) {
  return detail::first_good(
             0, std::min(spec.bits, max_keys) + 1,
             [&](std::uint64_t n) { return !fits(spec, plan_for(spec, n, spec.fpr)); }) -
         1;
}

/// The lowest rate at which the given keys fit into the given bits.
double min_rate(const expandable_spec& spec) {
  return numeric::exp2(detail::first_good_real(-62, -1e-3, 60, [&](double log2_rate) {
    return fits(spec, plan_for(spec, spec.capacity, numeric::exp2(log2_rate)));
  }));
}

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

constexpr auto fields = [](auto& block, auto& params) {
  block.values(params.capacity, params.fpr, params.growth, params.spent, params.entries,
               params.split);
  block.u32(params.generation);
  block.u16(params.level, params.cell_bits, params.segment_cell_bits, params.slot_bits,
            params.split_slot_bits);
  block.constant(std::uint16_t{expandable_params::first_load});
};

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
    return detail::refuse(
        "{} bits are too few for {}; give more memory, or leave it out", format_count(spec.bits),
        spec.capacity == 0 ? std::string("an expandable filter of that rate")
                           : format_count(spec.capacity, "key") + " to begin with");
  }
  if (!plan) {
    return detail::refuse(
        "{} at a rate of {:.3g} {} beyond what 64-bit hashes can promise; give fewer keys or "
        "a higher rate, or use a kind with 128-bit hashes",
        format_count(capacity, "key"), fpr, capacity == 1 ? "is" : "are");
  }
  return *plan;
}

std::size_t planned_area(const expandable_params& plan, bool is_split) noexcept {
  const detail::segment_shape shape{plan.cell_bits,
                                    is_split ? plan.split_slot_bits : plan.slot_bits};
  if (shape.blocks() == 1) {
    return shape.area_within(shape.stored_bytes(shape.block_bytes(plan.capacity)));
  }
  // Codes of 33 bits and one per entry, slots, both in whole bytes, and a twelfth for chance.
  const std::uint64_t here = (plan.capacity >> (plan.level + (is_split ? 1 : 0))) + 1;
  const std::uint64_t bytes = (shape.blocks() * (33 + 7) + here * (1 + shape.slot_bits)) / 8;
  return std::min<std::uint64_t>(bytes + bytes / 12 + 2, detail::max_segment_area);
}

std::uint64_t planned_bytes(const expandable_params& plan) noexcept {
  const auto segment = [&](bool is_split) {
    const detail::segment_shape shape{plan.cell_bits, plan.slot_bits};
    return 8 + shape.stored_bytes(planned_area(plan, is_split));
  };
  const std::uint64_t halves = 2 * plan.split;
  return halves * segment(true) + (plan.segments() - halves) * segment(false);
}

double expandable_bits(const expandable_params& params, std::uint64_t keys) {
  const detail::segment_shape first{params.cell_bits, params.slot_bits,
                                    detail::gaps_for(params.growth)};
  if (first.blocks() == 1) {
    return 8.0 * static_cast<double>(8 + first.stored_bytes(first.block_bytes(keys)));
  }
  // Per block: its offset, its code and its slots, each in whole bytes, and its gap, of which half
  // is used up on average.
  const auto segment = [&](double entries, unsigned slot_bits) {
    const detail::segment_shape shape{params.cell_bits, slot_bits, first.gaps};
    const auto blocks = static_cast<double>(shape.blocks());
    const double in_block = entries / blocks;
    const double used = (33 + in_block + 3.5) + (in_block * slot_bits + (in_block > 1 ? 3.5 : 0));
    const double gap =
        std::min(used / shape.gaps.share, 8.0 * static_cast<double>(shape.max_gap()));
    return blocks * (16 + used + gap / 2) + 8 * (2.0 + detail::code_read + 4) + 64;
  };
  const auto n = static_cast<double>(keys);
  const double entries = n / std::ldexp(1.0, static_cast<int>(params.level));
  const auto unsplit = static_cast<double>((std::uint64_t{1} << params.level) - params.split);
  const double halves = 2 * static_cast<double>(params.split);
  return unsplit * segment(entries, params.slot_bits) +
         halves * segment(entries / 2, params.split_slot_bits);
}

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
  if (!remainder || !fits_segment(segment_cell_bits, *remainder, 1.55)) return std::nullopt;
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

bool expandable_params::possible() const noexcept {
  const auto slots = [](unsigned bits) { return bits >= 2 && bits <= detail::max_slot_bits; };
  const unsigned address = level + cell_bits;
  const bool in_range =
      capacity != 0 && capacity <= max_keys && fpr > 0 && fpr < 1 && schedule::is_growth(growth) &&
      spent >= 0 && spent <= 1 && generation <= schedule::max_generations &&
      segment_cell_bits >=
          (growth == 1 ? schedule::min_fixed_segment_cell_bits : schedule::min_segment_cell_bits) &&
      segment_cell_bits <= schedule::max_segment_cell_bits &&
      cell_bits >= schedule::min_cell_bits && cell_bits <= segment_cell_bits && level <= 50 &&
      split < std::uint64_t{1} << level && slots(slot_bits) && slots(split_slot_bits);
  return in_range && (!is_fixed() || capacity <= first_load * cells()) &&
         (!widens() || level == 0) && address + slot_bits - 1 <= schedule::hash_bits &&
         address + (split != 0) + split_slot_bits - 1 <= schedule::hash_bits &&
         split_slot_bits + 1 >= slot_bits && (split != 0 || split_slot_bits == slot_bits);
}

std::vector<std::byte> expandable_params::encode() const {
  return detail::encode_block(*this, fields);
}

result<expandable_params> expandable_params::decode(const filter_header& header,
                                                    std::span<const std::byte> block) {
  return detail::decode_block<expandable_params>(header, block, "expandable filter", fields,
                                                 std::mem_fn(&expandable_params::possible));
}

}  // namespace bloomset
