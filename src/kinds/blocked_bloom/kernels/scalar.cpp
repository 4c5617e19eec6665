// The scalar kernels: the specification (bloomset/detail/blocked_bloom/layout.hpp) without change.

#include <bloomset/detail/blocked_bloom/kernels.hpp>
#include <bloomset/detail/blocked_bloom/layout.hpp>

namespace bloomset::detail {
namespace scalar {
namespace {

#include "kinds/blocked_bloom/kernels/loops.inl"

}  // namespace
}  // namespace scalar

const layout_kernels layout_kernels::scalar = scalar::all_loops;

}  // namespace bloomset::detail
