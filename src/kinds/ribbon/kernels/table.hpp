#pragma once

// The kernels of ribbon filters by instruction set.

#include <bloomery/detail/ribbon/kernels.hpp>

#include "cpu/dispatch.hpp"

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomery::detail {

extern const ribbon_kernels scalar_ribbon;
#if defined(__x86_64__)
extern const ribbon_kernels avx2_ribbon;
extern const ribbon_kernels avx512_ribbon;
#endif

inline constexpr kernel_table<ribbon_kernels> ribbon_kernel_table{{
    .scalar = &scalar_ribbon,
#if defined(__x86_64__)
    .avx2 = &avx2_ribbon,
    .avx512 = &avx512_ribbon,
#endif
}};

}  // namespace bloomery::detail

#pragma GCC visibility pop
