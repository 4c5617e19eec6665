#pragma once

// The kernels of vector quotient filters by instruction set.

#include <bloomery/detail/vector_quotient/kernels.hpp>

#include "cpu/dispatch.hpp"

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomery::detail {

extern const vq_kernels scalar_quotient;
#if defined(__x86_64__)
extern const vq_kernels avx2_quotient;
extern const vq_kernels avx512_quotient;
#endif

inline constexpr kernel_table<vq_kernels> vq_kernel_table{{
    .scalar = &scalar_quotient,
#if defined(__x86_64__)
    .avx2 = &avx2_quotient,
    .avx512 = &avx512_quotient,
#endif
}};

}  // namespace bloomery::detail

#pragma GCC visibility pop
