#pragma once

// One key in a segment of an expandable filter, in instructions that this translation unit may use
// (-march=native and the like): `native_segments::segment_view` where it may use BMI2 and POPCNT,
// as segment_layout.hpp's. In a nameless namespace, and to be used only in functions that are
// always inlined: a function that has these instructions is then emitted under no name that a
// caller on a lesser CPU could be linked to.

#include <bloomery/detail/expandable/segment_layout.hpp>

#if defined(__BMI2__) && defined(__POPCNT__)

#define BLOOMERY_NATIVE_SEGMENTS

namespace bloomery::detail {
namespace {  // NOLINT(cert-dcl59-cpp,google-build-namespaces,misc-anonymous-namespace-in-header)
namespace native_segments {

inline unsigned select_one(std::uint64_t x, unsigned k) noexcept {
  return static_cast<unsigned>(std::countr_zero(__builtin_ia32_pdep_di(std::uint64_t{1} << k, x)));
}
inline unsigned count_ones(std::uint64_t x) noexcept {
  return static_cast<unsigned>(std::popcount(x));
}

#include <bloomery/detail/expandable/segment_view.inl>

}  // namespace native_segments
}  // namespace
}  // namespace bloomery::detail

#endif
