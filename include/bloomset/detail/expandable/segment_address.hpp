#pragma once

/// The segment and cell of a key (docs/reference/format.md, "From a hash to its cell").

#include <bloomset/detail/expandable/segment_layout.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/plan/expandable_plan.hpp>
#include <cstdint>

namespace bloomset::detail {

struct segment_place {
  std::uint64_t segment;
  std::uint64_t remainder;  ///< the hash above the cell's bits
  std::uint32_t cell;
  std::uint32_t slot_bits;
};

inline segment_place place_of(const expandable_params& params, hash64 h) noexcept {
  const bool is_split = low_bits(h.value, params.level) < params.split;
  const unsigned level = params.level + (is_split ? 1 : 0);
  const std::uint64_t above = h.value >> level;
  return {low_bits(h.value, level), above >> params.cell_bits,
          static_cast<std::uint32_t>(low_bits(above, params.cell_bits)),
          is_split ? params.split_slot_bits : params.slot_bits};
}

/// True for both halves of a segment that was split in the doubling under way.
inline bool is_split(const expandable_params& params, std::uint64_t segment) noexcept {
  return segment < params.split || segment >= std::uint64_t{1} << params.level;
}
/// Bits of the hash that choose this segment.
inline unsigned level_of(const expandable_params& params, std::uint64_t segment) noexcept {
  return params.level + (is_split(params, segment) ? 1 : 0);
}
inline segment_shape shape_of(const expandable_params& params, std::uint64_t segment) noexcept {
  return {params.cell_bits, is_split(params, segment) ? params.split_slot_bits : params.slot_bits,
          gaps_for(params.growth)};
}

}  // namespace bloomset::detail
