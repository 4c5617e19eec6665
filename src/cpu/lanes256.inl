// Vectors of 256 bits with a key in each lane, for kernels of AVX2.

constexpr std::size_t lanes = 4;

template <class Words>
[[gnu::always_inline]] inline Words low_product(const Words& a, const Words& b) noexcept {
  return reinterpret_cast<Words>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}

#include "cpu/lanes.inl"
