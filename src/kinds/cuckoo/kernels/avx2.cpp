#if defined(__x86_64__)

#include <immintrin.h>

#include <array>
#include <cstring>

#include "cpu/target.hpp"
#include "kinds/cuckoo/kernels/kernels.hpp"

BLOOMERY_TARGET_BEGIN("avx2")

namespace bloomery::detail {
namespace cuckoo_avx2 {
namespace {

constexpr std::size_t lanes = 4;

template <class Words>
[[gnu::always_inline]] inline Words low_product(const Words& a, const Words& b) noexcept {
  // NOLINTNEXTLINE(portability-simd-intrinsics): this folder is where they belong.
  return reinterpret_cast<Words>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}

#include "cpu/lanes.inl"
#include "kinds/cuckoo/kernels/lanes.inl"

}  // namespace
}  // namespace cuckoo_avx2

const cuckoo_kernels cuckoo_kernels::vector256{cuckoo_avx2::contains};

}  // namespace bloomery::detail

BLOOMERY_TARGET_END

#endif
