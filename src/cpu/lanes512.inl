// Vectors of 512 bits with a key in each lane, for kernels of AVX-512.

constexpr std::size_t lanes = 8;

template <class Words>
[[gnu::always_inline]] inline Words low_product(const Words& a, const Words& b) noexcept {
  return reinterpret_cast<Words>(
      _mm512_mul_epu32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}

#include "cpu/lanes.inl"
