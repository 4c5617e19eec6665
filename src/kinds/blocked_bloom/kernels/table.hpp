#pragma once

// The kernels of blocked Bloom filters by instruction set.

#include <bloomery/detail/blocked_bloom/kernels.hpp>

#include "cpu/dispatch.hpp"

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomery::detail {

extern const layout_kernels scalar_blocks;
#if defined(__x86_64__)
extern const layout_kernels avx2_blocks;
extern const layout_kernels avx512_blocks;
#endif

inline constexpr kernel_table<layout_kernels> block_kernel_table{{
    .scalar = &scalar_blocks,
#if defined(__x86_64__)
    .avx2 = &avx2_blocks,
    .avx512 = &avx512_blocks,
#endif
}};

}  // namespace bloomery::detail

#pragma GCC visibility pop
