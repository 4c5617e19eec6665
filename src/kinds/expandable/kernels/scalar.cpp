#include <algorithm>
#include <array>
#include <bit>
#include <bloomset/detail/expandable/segment_kernels.hpp>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "cpu/dispatch.hpp"

namespace bloomset::detail {
namespace scalar {
namespace {

#include "kinds/expandable/kernels/bits.inl"

void push_slot(const slot_row& row, std::size_t n, std::size_t at, std::uint64_t entry) noexcept {
  push_slot_by_words(row, n, at, entry);
}

#include "kinds/expandable/kernels/loops.inl"

}  // namespace
}  // namespace scalar

const segment_kernels segment_kernels::scalar = bloomset::detail::scalar::kernels;

#if defined(__aarch64__)
// Only queries differ (neon.cpp). Defined here, where `kernels` is a constant expression.
constinit const segment_kernels segment_kernels::vector128 = [] {
  segment_kernels all = bloomset::detail::scalar::kernels;
  all.contains_batch = contains_by_neon;
  return all;
}();
#endif

const segment_kernels& segment_ops() noexcept {
  return chosen_kernels<segment_kernels>();
}

}  // namespace bloomset::detail
