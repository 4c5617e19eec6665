#pragma once

/// Queries of one key in the instructions that the including translation unit may use, for example
/// with -march=native. If it may not use BMI2 and POPCNT, they are queries of the kernels.
///
/// The code is in an unnamed namespace, and only functions that are always inlined may use it. No
/// function with these instructions thus has a name that a caller for a lesser CPU could be linked
/// to.

#include <bloomset/detail/expandable/segment_kernels.hpp>
#include <bloomset/plan/expandable_plan.hpp>

namespace bloomset::detail {
namespace {  // NOLINT(cert-dcl59-cpp,google-build-namespaces,misc-anonymous-namespace-in-header)
namespace native_segments {

#if defined(__BMI2__) && defined(__POPCNT__)

inline unsigned select_one(std::uint64_t x, unsigned k) noexcept {
  return static_cast<unsigned>(std::countr_zero(__builtin_ia32_pdep_di(std::uint64_t{1} << k, x)));
}
inline unsigned count_ones(std::uint64_t x) noexcept {
  return static_cast<unsigned>(std::popcount(x));
}

#include <bloomset/detail/expandable/segment_view.inl>

[[gnu::always_inline]] inline bool contains(const expandable_params& params,
                                            const segment_query& q) noexcept {
  return segment_view({params.cell_bits, q.slot_bits}, q.segment()).contains(q.cell, q.remainder);
}

#else

[[gnu::always_inline]] inline bool contains(const expandable_params& params,
                                            const segment_query& q) noexcept {
  return segment_ops().contains(params.cell_bits, q);
}

#endif

}  // namespace native_segments
}  // namespace
}  // namespace bloomset::detail
