#pragma once

/// Limits of an expandable filter's layout, which its plan and its growth keep.

#include <bloomery/detail/expandable/segment_layout.hpp>
#include <cmath>
#include <cstdint>
#include <optional>

#include "kinds/expandable/shares.hpp"

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomery::expandable_limits {

inline constexpr unsigned hash_bits = 63;  // of segment, cell and remainder together
inline constexpr unsigned max_segment_cell_bits = 14;
inline constexpr unsigned min_segment_cell_bits = 12;
// Hashes have bits for at most 50 doublings. A union may begin as if after so many.
inline constexpr std::uint32_t max_generations_united = 64;
inline constexpr std::uint32_t max_generations = 128;

inline bool in_range(double x, double low, double high) {
  return x >= low && x <= high;
}
inline bool is_rate(double x) {
  return x > 0 && x < 1;
}
inline bool is_growth(double x) {
  return x == 0 || in_range(x, 1, 0x1p50);
}

/// The least remainder of at least `min` bits for which spent(share of the rate per remainder) is
/// at most `allowed`. Nothing if hashes have too few bits.
template <class Spent>
std::optional<unsigned> min_remainder(unsigned min, unsigned address_bits, double allowed,
                                      Spent&& spent) {
  for (unsigned bits = min; address_bits + bits <= hash_bits && bits < detail::max_slot_bits;
       ++bits) {
    if (spent(expandable_shares::share(bits)) <= allowed) return bits;
  }
  return std::nullopt;
}

/// True if 16-bit block offsets can address a segment with so many entries per cell.
inline bool fits_segment(unsigned cell_bits, unsigned remainder_bits, double entries) {
  const double slot = (remainder_bits + 1 + 1) / 8.0;  // with the marker, and a bit of the code
  return std::ldexp(entries * slot + 5.0 / 32, static_cast<int>(cell_bits)) <=
         detail::max_segment_area;
}

}  // namespace bloomery::expandable_limits

#pragma GCC visibility pop
