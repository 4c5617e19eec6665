#if defined(__x86_64__)

#include <array>
#include <cstring>

#include "cpu/avx512.hpp"
#include "cpu/target.hpp"
#include "kinds/cuckoo/kernels/kernels.hpp"

BLOOMERY_TARGET_BEGIN("avx512f,avx512vl,avx512dq")

namespace bloomery::detail {
namespace cuckoo_avx512 {
namespace {

constexpr std::size_t lanes = 8;

template <class Words>
[[gnu::always_inline]] inline Words low_product(const Words& a, const Words& b) noexcept {
  // NOLINTNEXTLINE(portability-simd-intrinsics): this folder is where they belong.
  return reinterpret_cast<Words>(
      _mm512_mul_epu32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}

#include "cpu/lanes.inl"
#include "kinds/cuckoo/kernels/lanes.inl"

}  // namespace
}  // namespace cuckoo_avx512

const cuckoo_kernels cuckoo_kernels::vector512{cuckoo_avx512::contains};

}  // namespace bloomery::detail

BLOOMERY_TARGET_END

#endif
