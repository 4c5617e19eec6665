// The scalar kernels: the specification (bloomery/detail/blocked_bloom/layout.hpp) without change.

#include <bloomery/detail/blocked_bloom/kernels.hpp>
#include <bloomery/detail/blocked_bloom/native.hpp>

namespace bloomery::detail {
namespace scalar {
namespace {

#include "kinds/blocked_bloom/kernels/loops.inl"

}  // namespace
}  // namespace scalar

const layout_kernels layout_kernels::scalar = scalar::all_loops;

}  // namespace bloomery::detail
