#if defined(__x86_64__)

#include <immintrin.h>

#include <bloomset/detail/blocked_bloom/kernels.hpp>
#include <bloomset/detail/blocked_bloom/layout.hpp>

#include "cpu/target.hpp"

BLOOMSET_TARGET_BEGIN("avx2,bmi,bmi2,popcnt")

#include <bloomset/detail/blocked_bloom/avx2.hpp>

namespace bloomset::detail {
namespace avx2 {
namespace {

#include "kinds/blocked_bloom/kernels/loops.inl"

}  // namespace
}  // namespace avx2

const layout_kernels layout_kernels::vector256 = avx2::all_loops;

}  // namespace bloomset::detail

BLOOMSET_TARGET_END

#endif
