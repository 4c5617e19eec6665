#pragma once

// Code for one key in a block of a blocked Bloom filter, with the best instructions that this
// program is compiled for: AVX-512 or AVX2 (-march=native and the like), else the scalar form. The
// bits are the same. Batches do not use this header; their kernels are chosen at run time.

#include <bloomset/detail/blocked_bloom/layout.hpp>

#if defined(__AVX512VBMI__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
#include <bloomset/detail/blocked_bloom/avx512.hpp>
#elif defined(__AVX2__)
#include <bloomset/detail/blocked_bloom/avx2.hpp>
#endif

namespace bloomset::detail {

#if defined(__AVX512VBMI__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
namespace native = avx512;
#elif defined(__AVX2__)
namespace native = avx2;
#else
namespace native = scalar;
#endif

}  // namespace bloomset::detail
