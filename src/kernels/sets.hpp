#pragma once

// The kernel sets by instruction set; null where this build has none for the processor.

#include <bloomery/detail/block_kernels.hpp>
#include <bloomery/detail/ribbon_kernels.hpp>

namespace bloomery::detail {

extern const kernel_set scalar_kernels;
extern const ribbon_kernels scalar_ribbon;
#if defined(__x86_64__)
extern const kernel_set avx2_kernels;
extern const kernel_set avx512_kernels;
extern const ribbon_kernels avx2_ribbon;
extern const ribbon_kernels avx512_ribbon;
#endif

}  // namespace bloomery::detail
