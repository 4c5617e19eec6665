#include <bloomery/plan/expandable_plan.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include <bloomery/detail/core/record.hpp>
#include <bloomery/detail/expandable/segment_layout.hpp>
#include <bloomery/plan/limits.hpp>
#include <bloomery/plan/numeric.hpp>
#include <bloomery/plan/units.hpp>

#include "core/format.hpp"
#include "kinds/expandable/shares.hpp"
#include "plan/checks.hpp"

namespace bloomery {
namespace {

using expandable_shares::allowance;
using expandable_shares::first_cell_bits;
using expandable_shares::first_cells;
using expandable_shares::load_of_first;
using expandable_shares::min_cell_bits;
using expandable_shares::part_of_unknown;
using expandable_shares::planned_share;
using expandable_shares::share;
using expandable_shares::sharing;
using expandable_shares::weight;

// Above this rate the entries of a first segment that is so full lose all their bits, and each then
// counts twice.
constexpr double max_rate_of_full_first = 0.25;
constexpr double max_growth = 0x1p50;

constexpr unsigned hash_bits = 63;  // that cell and remainder may take together
constexpr unsigned max_segment_cell_bits = 14;
constexpr unsigned min_segment_cell_bits = 12;
// Hashes have no bits for more doublings than 50, and a union may begin as if after so many.
constexpr std::uint32_t max_generations = 128;
constexpr std::uint32_t max_generations_united = 64;

bool in_range(double x, double low, double high) {
  return x >= low && x <= high;
}
bool is_rate(double x) {
  return x > 0 && x < 1;
}
bool is_growth(double x) {
  return x == 0 || in_range(x, 1, max_growth);
}

/// The least remainder for which `spent(share)` keeps within `allowed`, if hashes have the bits.
template <class Spent>
std::optional<unsigned> min_remainder(unsigned from, unsigned address_bits, double allowed,
                                      Spent&& spent) {
  for (unsigned bits = from; address_bits + bits <= hash_bits && bits < detail::max_slot_bits;
       ++bits) {
    if (spent(share(bits)) <= allowed) return bits;
  }
  return std::nullopt;
}

result<void> check_ranges(const expandable_spec& spec) {
  if (auto ok = detail::check_common(spec); !ok) return ok;
  if (spec.fpr == 0 && (spec.capacity == 0 || spec.bits == 0)) {
    return detail::refuse(
        "an expandable filter's rate is open; give it, or both capacity and memory to begin with");
  }
  if (!is_growth(spec.growth)) {
    return detail::refuse(detail::format_text(
        "a growth of {} is out of range; give 1 to 2^50, or leave it out if it is "
        "unknown",
        spec.growth));
  }
  return {};
}

/// Whether a segment's 16-bit starts can serve so many entries a cell.
bool fits_segment(unsigned cell_bits, unsigned remainder_bits, double entries) {
  const double slot = (remainder_bits + 1 + 1) / 8.0;
  return std::ldexp(entries * slot + 5.0 / 32, static_cast<int>(cell_bits)) <=
         detail::max_segment_area;
}

/// Cells of a segment, as many as its starts can serve: at most 1.5 entries a cell just before a
/// split, with a tenth more for chance, and slots that grow by six bits in the long run, or by
/// thirteen where it may be far beyond the growth that was foretold.
unsigned segment_cell_bits(unsigned remainder_bits, bool is_foretold) {
  const unsigned longest = remainder_bits + (is_foretold ? 13 : 6);
  unsigned bits = max_segment_cell_bits;
  while (bits > min_segment_cell_bits && !fits_segment(bits, longest, 1.65)) --bits;
  return bits;
}

/// Bytes of a block with so many entries: its code and its slots.
std::size_t block_bytes(std::uint64_t entries, unsigned slot_bits) {
  return (33 + entries + 7) / 8 + (entries * slot_bits + 7) / 8;
}

/// Sets what `keys` keys need from the start. False beyond what 64-bit hashes can serve.
bool lay_out(expandable_params& plan) {
  const double at_first = plan.growth == 0
                              ? allowance(plan, 0)
                              : plan.fpr * planned_share * sharing(plan.growth).part(0);
  const auto without_growth = min_remainder(1, 0, at_first, [](double x) { return x; });
  if (!without_growth) return false;
  plan.segment_cell_bits = segment_cell_bits(*without_growth, plan.growth != 0);
  plan.first_load = plan.fpr <= max_rate_of_full_first ? load_of_first : 0;
  plan.cell_bits = first_cell_bits(plan);
  const std::uint64_t cells = plan.widens() ? 1 : first_cells(plan.capacity);
  const std::uint64_t segments = cells / (std::uint64_t{1} << plan.cell_bits) +
                                 (cells % (std::uint64_t{1} << plan.cell_bits) != 0);
  plan.level = static_cast<unsigned>(std::bit_width(segments)) - 1;
  plan.split = segments - (std::uint64_t{1} << plan.level);
  plan.generation = plan.split == 0 ? 0 : 1;
  // Where a doubling is begun with, its segments are of both depths. The share of a key in one of
  // the split ones is half as large. Then: what the rest of this doubling adds, and the first half
  // of what the deeper segments add in the next.
  const double f = std::ldexp(static_cast<double>(plan.split), -static_cast<int>(plan.level));
  const double begun = plan.widens() ? weight(plan, plan.cell_bits, true) : (1 + f) * (1 - f / 2);
  const double rest = f == 0 ? 0 : (1 - f) - (1 - f * f) / 4 + 0.5;
  const unsigned address = plan.level + (plan.split != 0) + plan.cell_bits;
  auto remainder =
      min_remainder(1, address, allowance(plan, 0), [&](double x) { return begun * x; });
  if (remainder && f != 0) {
    remainder = min_remainder(*remainder, address, allowance(plan, 1),
                              [&](double x) { return (begun + rest) * x; });
  }
  if (!remainder) return false;
  plan.slot_bits = *remainder + 1;
  plan.deep_slot_bits = plan.slot_bits;
  plan.spent = (begun + rest) * share(*remainder);
  return true;
}

}  // namespace

result<expandable_params> plan_expandable(const expandable_spec& spec) {
  if (auto ok = check_ranges(spec); !ok) return fail(std::move(ok.error()));
  const auto with = [&](std::uint64_t capacity, double fpr) -> std::optional<expandable_params> {
    expandable_params plan;
    plan.capacity = capacity;
    plan.fpr = fpr;
    plan.growth = spec.growth;
    plan.seed = spec.seed;
    if (capacity > max_keys || !lay_out(plan)) return std::nullopt;
    return plan;
  };
  const auto fits = [&](const std::optional<expandable_params>& plan) {
    return plan && (spec.bits == 0 || planned_bytes(*plan) <= spec.bits / 8);
  };
  std::uint64_t capacity = spec.capacity;
  double fpr = spec.fpr;
  if (spec.bits != 0 && capacity == 0) {
    // The most keys that fit, up to where their slots alone would not.
    std::uint64_t beyond = std::min(spec.bits, max_keys) + 1;
    while (beyond - capacity > 1) {
      const std::uint64_t middle = capacity + (beyond - capacity) / 2;
      (fits(with(middle, fpr)) ? capacity : beyond) = middle;
    }
  } else if (spec.bits != 0 && fpr == 0) {
    // The lowest rate that fits.
    double low = -62;
    double high = -1e-3;
    for (int step = 0; step < 60; ++step) {
      const double middle = (low + high) / 2;
      (fits(with(capacity, numeric::exp2(middle))) ? high : low) = middle;
    }
    fpr = numeric::exp2(high);
  } else if (capacity == 0) {
    capacity = default_expandable_capacity;
  }
  const auto plan = capacity == 0 ? std::nullopt : with(capacity, fpr);
  if (spec.bits != 0 && !fits(plan)) {
    return detail::refuse(detail::format_text(
        "{} bits are too few for {}; give more memory, or leave it out", format_count(spec.bits),
        spec.capacity == 0 ? std::string("an expandable filter of that rate")
                           : format_count(spec.capacity) + " keys to begin with"));
  }
  if (!plan) {
    return detail::refuse(
        detail::format_text("{} keys at a rate of {:.3g} are beyond what 64-bit hashes can "
                            "promise; give fewer keys or a higher rate",
                            format_count(capacity), fpr));
  }
  return *plan;
}

std::uint64_t expandable_params::entries_limit() const noexcept {
  // A first segment that has become a whole one is split at once, or else has this many.
  const std::uint64_t most = first_load != 0 && !widens() && segments() == 1
                                 ? std::max(max_entries(), cells() / 2 * first_load)
                                 : max_entries();
  return most + most / 4;
}

std::uint64_t expandable_params::room() const noexcept {
  const std::uint64_t segment = std::uint64_t{1} << cell_bits;
  std::uint64_t before = max_entries() - segment / 4 * 3;
  if (segments() == 1) before = max_entries() / 2;
  if (first_load != 0 && !widens() && segments() <= 2) before = segment / 2 * first_load;
  return capacity > before ? capacity : max_entries();
}

std::optional<expandable_params> expandable_params::grown() const noexcept {
  expandable_params next = *this;
  if (widens() || split == 0) {
    // A doubling begins. While there is one segment, its cells double at once, so that all entries
    // until the next doubling are of the new length; else half of them go to deeper segments.
    next.generation = generation + 1;
    const unsigned before = slot_bits - 1;
    const double first = generation == 0 && !widens() ? 0.5 * share(before) : 0;
    const double whole = widens() ? weight(*this, cell_bits + 1, false) : 0.75;
    const auto spends = [&](double x) { return spent + first + whole * x; };
    const unsigned address = level + cell_bits + 1;
    const auto remainder =
        min_remainder(std::max(1U, before - 1), address, allowance(*this, next.generation), spends);
    if (!remainder || next.generation > max_generations) return std::nullopt;
    next.spent = spends(share(*remainder));
    next.deep_slot_bits = *remainder + 1;
  }
  if (widens()) {
    ++next.cell_bits;
    next.slot_bits = next.deep_slot_bits;
    return next;
  }
  ++next.split;
  if (next.split == std::uint64_t{1} << level) {
    ++next.level;
    next.split = 0;
    next.slot_bits = next.deep_slot_bits;
  }
  return next;
}

std::optional<expandable_params> expandable_params::holding(double rate) const noexcept {
  // Of a key that is yet to come, the share of hashes that its entry will match.
  const double shallow = std::ldexp(2.0, -static_cast<int>(level + cell_bits + slot_bits));
  const double deep = std::ldexp(1.0, -static_cast<int>(level + cell_bits + deep_slot_bits));
  const double f = std::ldexp(static_cast<double>(split), -static_cast<int>(level));
  const double waiting = static_cast<double>(max_entries() - std::min(max_entries(), entries));
  rate += waiting * ((1 - f) * shallow + f * deep);
  if (f != 0) {
    // The rest of this doubling, and of the next what comes to segments that are not split yet.
    const double at_first = std::ldexp(share(0), static_cast<int>(level + cell_bits));
    rate += at_first * ((1 - f) * (1 - f) / 2 * shallow + (1 - f * f) / 2 * deep);
    rate += 0.5 * share(deep_slot_bits - 1);
  }
  expandable_params next = *this;
  const auto allowed = [&](std::uint32_t g) {
    const double part = growth == 0 ? part_of_unknown(*this, g) : sharing(*this).part(g);
    return fpr * planned_share * part;
  };
  const bool is_whole = f == 0 && cell_bits == segment_cell_bits;
  if (is_whole && (generation != 0 || rate > allowed(0))) {
    // What grown() adds itself at the first doubling.
    next.generation = std::max(next.generation, 1U);
    rate += 0.5 * share(slot_bits - 1);
  }
  next.spent = rate;
  while (next.spent > allowed(next.generation)) {
    if (++next.generation > max_generations_united) return std::nullopt;
  }
  // The next doubling's entries, of which half again as many as cells are in a segment at the most.
  const double whole = widens() ? std::max(1.0, weight(*this, cell_bits + 1, false)) : 1;
  const auto remainder =
      min_remainder(1, level + (split != 0) + cell_bits + 1, allowed(next.generation + 1),
                    [&](double x) { return next.spent + whole * x; });
  if (!remainder || !fits_segment(segment_cell_bits, *remainder, 1.55)) return std::nullopt;
  return next;
}

std::optional<expandable_params> grown_to(expandable_params params, std::uint64_t keys) {
  params.entries = keys;
  while (params.max_entries() < keys) {
    // Whole doublings at a stroke: the state at the end of one does not depend on its steps.
    auto next = params.grown();
    if (!next) return std::nullopt;
    if (next->split != 0) {
      const std::uint64_t all = std::uint64_t{1} << next->level;
      const std::uint64_t step = (std::uint64_t{1} << next->cell_bits) / 4 * 3;
      const std::uint64_t needed = keys / step + (keys % step != 0);
      next->split = std::min(all - 1, needed > all ? needed - all : 1);
    }
    params = *next;
  }
  return params;
}

std::size_t planned_area(const expandable_params& plan, bool deep) noexcept {
  const detail::segment_shape shape{plan.cell_bits, deep ? plan.deep_slot_bits : plan.slot_bits};
  if (shape.blocks() == 1) {
    return shape.area_within(shape.stored_bytes(block_bytes(plan.capacity, shape.slot_bits)));
  }
  // Codes of 33 bits and one an entry, slots, both in whole bytes; and a twelfth for chance.
  const std::uint64_t here = (plan.capacity >> (plan.level + (deep ? 1 : 0))) + 1;
  const std::uint64_t bytes = (shape.blocks() * (33 + 7) + here * (1 + shape.slot_bits)) / 8;
  return std::min<std::uint64_t>(bytes + bytes / 12 + 2, detail::max_segment_area);
}

std::uint64_t planned_bytes(const expandable_params& plan) noexcept {
  const auto segment = [&](bool deep) {
    const detail::segment_shape shape{plan.cell_bits, plan.slot_bits};
    return 8 + shape.stored_bytes(planned_area(plan, deep));
  };
  const std::uint64_t deep = 2 * plan.split;
  return deep * segment(true) + (plan.segments() - deep) * segment(false);
}

double expandable_bits(const expandable_params& params, std::uint64_t keys) {
  // Per block: its start, its code and its slots, each in whole bytes, and gaps, of which half are
  // used up on average.
  const auto shape_with = [&](unsigned slot_bits) {
    return detail::segment_shape{params.cell_bits, slot_bits, detail::gaps_for(params.growth)};
  };
  const auto segment = [&](double entries, unsigned slot_bits) {
    const detail::segment_shape shape = shape_with(slot_bits);
    const auto blocks = static_cast<double>(shape.blocks());
    const double in_block = entries / blocks;
    const double used = (33 + in_block + 3.5) + (in_block * slot_bits + (in_block > 1 ? 3.5 : 0));
    const double gap =
        std::min(used / shape.gaps.share, 8.0 * static_cast<double>(shape.max_gap()));
    return blocks * (16 + used + gap / 2) + 8 * (2.0 + detail::code_read + 4) + 64;
  };
  const detail::segment_shape first = shape_with(params.slot_bits);
  if (first.blocks() == 1) {
    return 8.0 * static_cast<double>(8 + first.stored_bytes(block_bytes(keys, first.slot_bits)));
  }
  const auto n = static_cast<double>(keys);
  const double shallow = n / std::ldexp(1.0, static_cast<int>(params.level));
  const auto whole = static_cast<double>((std::uint64_t{1} << params.level) - params.split);
  const double deep = 2 * static_cast<double>(params.split);
  return whole * segment(shallow, params.slot_bits) +
         deep * segment(shallow / 2, params.deep_slot_bits);
}

bool expandable_params::possible() const noexcept {
  const auto slots = [](unsigned bits) { return bits >= 2 && bits <= detail::max_slot_bits; };
  if (!is_rate(fpr) || !is_growth(growth) || !in_range(spent, 0, 1) || capacity == 0 ||
      capacity > max_keys || generation > max_generations ||
      segment_cell_bits < min_segment_cell_bits || segment_cell_bits > max_segment_cell_bits ||
      cell_bits < min_cell_bits || cell_bits > segment_cell_bits || level > 50 ||
      split >= std::uint64_t{1} << level || !slots(slot_bits) || !slots(deep_slot_bits) ||
      (first_load != 0 && first_load != load_of_first)) {
    return false;
  }
  if (cell_bits != segment_cell_bits && level != 0) return false;
  const unsigned address = level + cell_bits;
  if (address + slot_bits - 1 > hash_bits ||
      address + (split != 0) + deep_slot_bits - 1 > hash_bits) {
    return false;
  }
  return deep_slot_bits + 1 >= slot_bits && (split != 0 || deep_slot_bits == slot_bits);
}

std::vector<std::byte> expandable_params::encode() const {
  return detail::record_writer()
      .put(capacity)
      .put(fpr)
      .put(growth)
      .put(spent)
      .put(entries)
      .put(split)
      .put(generation)
      .put(static_cast<std::uint16_t>(level))
      .put(static_cast<std::uint16_t>(cell_bits))
      .put(static_cast<std::uint16_t>(segment_cell_bits))
      .put(static_cast<std::uint16_t>(slot_bits))
      .put(static_cast<std::uint16_t>(deep_slot_bits))
      .put(static_cast<std::uint16_t>(first_load))
      .finish();
}

result<expandable_params> expandable_params::decode(const filter_header& header,
                                                    std::span<const std::byte> block) {
  if (header.kind_version != 1) {
    return fail(
        errc::unsupported,
        detail::format_text("this expandable filter has layout version {}, and version 1 is known "
                            "here; use a newer bloomery",
                            header.kind_version));
  }
  detail::record_reader reader(block);
  expandable_params params;
  params.capacity = reader.get<std::uint64_t>();
  params.fpr = reader.get<double>();
  params.growth = reader.get<double>();
  params.spent = reader.get<double>();
  params.entries = reader.get<std::uint64_t>();
  params.split = reader.get<std::uint64_t>();
  params.generation = reader.get<std::uint32_t>();
  params.level = reader.get<std::uint16_t>();
  params.cell_bits = reader.get<std::uint16_t>();
  params.segment_cell_bits = reader.get<std::uint16_t>();
  params.slot_bits = reader.get<std::uint16_t>();
  params.deep_slot_bits = reader.get<std::uint16_t>();
  params.first_load = reader.get<std::uint16_t>();
  params.seed = header.seed;
  if (!reader.complete() || !params.possible()) {
    return fail(errc::corrupt,
                "the expandable filter's parameters are out of range; the file is damaged");
  }
  return params;
}

}  // namespace bloomery
