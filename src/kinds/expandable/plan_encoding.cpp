// The parameter block of an expandable filter's file (docs/format.md, "expandable").

#include <bloomery/plan/expandable_plan.hpp>
#include <bloomery/plan/limits.hpp>
#include <functional>

#include "kinds/expandable/schedule.hpp"
#include "plan/checks.hpp"

namespace bloomery {

bool expandable_params::possible() const noexcept {
  const auto slots = [](unsigned bits) { return bits >= 2 && bits <= detail::max_slot_bits; };
  const unsigned address = level + cell_bits;
  const bool in_range =
      capacity != 0 && capacity <= max_keys && fpr > 0 && fpr < 1 && schedule::is_growth(growth) &&
      spent >= 0 && spent <= 1 && generation <= schedule::max_generations &&
      segment_cell_bits >= schedule::min_segment_cell_bits &&
      segment_cell_bits <= schedule::max_segment_cell_bits &&
      cell_bits >= schedule::min_cell_bits && cell_bits <= segment_cell_bits && level <= 50 &&
      split < std::uint64_t{1} << level && slots(slot_bits) && slots(split_slot_bits);
  return in_range && (!widens() || level == 0) && address + slot_bits - 1 <= schedule::hash_bits &&
         address + (split != 0) + split_slot_bits - 1 <= schedule::hash_bits &&
         split_slot_bits + 1 >= slot_bits && (split != 0 || split_slot_bits == slot_bits);
}

namespace {

constexpr auto fields = [](auto& block, auto& params) {
  block.values(params.capacity, params.fpr, params.growth, params.spent, params.entries,
               params.split);
  block.u32(params.generation);
  block.u16(params.level, params.cell_bits, params.segment_cell_bits, params.slot_bits,
            params.split_slot_bits);
  block.constant(std::uint16_t{expandable_params::first_load});
};

}  // namespace

std::vector<std::byte> expandable_params::encode() const {
  return detail::encode_block(*this, fields);
}

result<expandable_params> expandable_params::decode(const filter_header& header,
                                                    std::span<const std::byte> block) {
  return detail::decode_block<expandable_params>(header, block, "expandable filter", fields,
                                                 std::mem_fn(&expandable_params::possible));
}

}  // namespace bloomery
