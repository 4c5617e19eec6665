#pragma once

/// Queries of one key in the instructions that the including translation unit may use, for example
/// with -march=native. `native_segments::segment_view` exists if it may use BMI2 and POPCNT.
///
/// The code is in an unnamed namespace, and only functions that are always inlined may use it. No
/// function with these instructions thus has a name that a caller for a lesser CPU could be linked
/// to.

#include <bloomset/detail/expandable/segment_layout.hpp>

#if defined(__BMI2__) && defined(__POPCNT__)

#define BLOOMSET_NATIVE_SEGMENTS

namespace bloomset::detail {
namespace {  // NOLINT(cert-dcl59-cpp,google-build-namespaces,misc-anonymous-namespace-in-header)
namespace native_segments {

inline unsigned select_one(std::uint64_t x, unsigned k) noexcept {
  return static_cast<unsigned>(std::countr_zero(__builtin_ia32_pdep_di(std::uint64_t{1} << k, x)));
}
inline unsigned count_ones(std::uint64_t x) noexcept {
  return static_cast<unsigned>(std::popcount(x));
}

#include <bloomset/detail/expandable/segment_view.inl>

}  // namespace native_segments
}  // namespace
}  // namespace bloomset::detail

#endif
