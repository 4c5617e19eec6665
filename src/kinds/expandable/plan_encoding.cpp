// The parameter block of an expandable filter's file (docs/format.md, "expandable").

#include <bloomery/detail/core/record.hpp>
#include <bloomery/plan/expandable_plan.hpp>
#include <bloomery/plan/limits.hpp>

#include "core/format.hpp"
#include "kinds/expandable/schedule.hpp"

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
      .put(static_cast<std::uint16_t>(split_slot_bits))
      .put(std::uint16_t{first_load})
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
  params.split_slot_bits = reader.get<std::uint16_t>();
  const bool has_load = reader.get<std::uint16_t>() == expandable_params::first_load;
  params.seed = header.seed;
  if (!reader.complete() || !has_load || !params.possible()) {
    return fail(errc::corrupt,
                "the expandable filter's parameters are out of range; the file is damaged");
  }
  return params;
}

}  // namespace bloomery
