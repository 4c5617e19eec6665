// The bytes of an expandable filter, by its plan.

#include <algorithm>
#include <cmath>

#include <bloomery/detail/expandable/segment_layout.hpp>
#include <bloomery/plan/expandable_plan.hpp>

namespace bloomery {
std::size_t planned_area(const expandable_params& plan, bool is_split) noexcept {
  const detail::segment_shape shape{plan.cell_bits,
                                    is_split ? plan.split_slot_bits : plan.slot_bits};
  if (shape.blocks() == 1) {
    return shape.area_within(shape.stored_bytes(shape.block_bytes(plan.capacity)));
  }
  // Codes of 33 bits and one per entry, and slots, both in whole bytes; then a twelfth for random
  // variation.
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
  // Per block: its offset, its code and its slots, each in whole bytes, and its gap, of which half
  // is used up on average.
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
    return 8.0 * static_cast<double>(8 + first.stored_bytes(first.block_bytes(keys)));
  }
  const auto n = static_cast<double>(keys);
  const double entries = n / std::ldexp(1.0, static_cast<int>(params.level));
  const auto unsplit = static_cast<double>((std::uint64_t{1} << params.level) - params.split);
  const double halves = 2 * static_cast<double>(params.split);
  return unsplit * segment(entries, params.slot_bits) +
         halves * segment(entries / 2, params.split_slot_bits);
}

}  // namespace bloomery
