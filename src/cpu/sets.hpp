#pragma once

// The kernel sets by instruction set; null where this build has none for the processor.

#include <bloomery/detail/blocked_bloom/kernels.hpp>
#include <bloomery/detail/ribbon/kernels.hpp>
#include <bloomery/detail/expandable/segment.hpp>
#include <bloomery/detail/vector_quotient/kernels.hpp>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomery::detail {

extern const kernel_set scalar_kernels;
extern const ribbon_kernels scalar_ribbon;
extern const vq_kernels scalar_quotient;
extern const segment_kernels scalar_segments;
#if defined(__x86_64__)
extern const kernel_set avx2_kernels;
extern const kernel_set avx512_kernels;
extern const ribbon_kernels avx2_ribbon;
extern const ribbon_kernels avx512_ribbon;
extern const vq_kernels avx2_quotient;
extern const vq_kernels avx512_quotient;
extern const segment_kernels bmi2_segments;
extern const segment_kernels avx512_segments;
void ask_eight_at_once(unsigned cell_bits, std::span<const segment_query> queries,
                       std::span<const segment_query> to_fetch, bool* answers) noexcept;
#endif

}  // namespace bloomery::detail

#pragma GCC visibility pop
