#pragma once

/// The kernels of segments by instruction set.

#include <bloomery/detail/expandable/segment_kernels.hpp>

#include "cpu/dispatch.hpp"

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomery::detail {

extern const segment_kernels scalar_segments;
#if defined(__x86_64__)
extern const segment_kernels avx2_segments;
extern const segment_kernels avx512_segments;
/// segment_kernels::contains_batch with eight queries at a time, for CPUs with AVX-512.
void contains_by_eights(unsigned cell_bits, std::span<const segment_query> queries,
                        std::span<const segment_query> to_prefetch, bool* answers) noexcept;
#endif

inline constexpr kernel_table<segment_kernels> segment_kernel_table{{
    .scalar = &scalar_segments,
#if defined(__x86_64__)
    .avx2 = &avx2_segments,
    .avx512 = &avx512_segments,
#endif
}};

}  // namespace bloomery::detail

#pragma GCC visibility pop
