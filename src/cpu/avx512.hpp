#pragma once

// The intrinsics, for kernels of AVX-512.

#include <immintrin.h>

#if !defined(__clang__)
// g++ 12 warns of its own _mm512_undefined_epi32() (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
