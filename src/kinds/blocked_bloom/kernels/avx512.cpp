#if defined(__x86_64__)

#include <immintrin.h>

#include <bloomset/detail/blocked_bloom/kernels.hpp>
#include <bloomset/detail/blocked_bloom/layout.hpp>

#include "cpu/target.hpp"

// VBMI came with Ice Lake and Zen 4. CPUs with AVX-512 but without VBMI use the AVX2 kernels, which
// also avoids the lower clock of their 512-bit units.
BLOOMSET_TARGET_BEGIN("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,bmi,bmi2,popcnt")

#include <bloomset/detail/blocked_bloom/avx512.hpp>

namespace bloomset::detail {
namespace avx512 {
namespace {

#include "kinds/blocked_bloom/kernels/loops.inl"

}  // namespace
}  // namespace avx512

const layout_kernels layout_kernels::vector512 = avx512::all_loops;

}  // namespace bloomset::detail

BLOOMSET_TARGET_END

#endif
