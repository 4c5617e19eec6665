// Vectors of 256 bits with a key in each lane, for kernels of AVX2.

constexpr std::size_t lanes = 4;

template <class Words>
[[gnu::always_inline]] inline Words low_product(const Words& a, const Words& b) noexcept {
  return reinterpret_cast<Words>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}

#include "cpu/lanes.inl"

// Writes whether each number is zero, or whether it is not.
template <bool Zero>
[[gnu::always_inline]] inline void store_answers(bool* to, const lane_words& x) noexcept {
  const auto zero = reinterpret_cast<__m256d>(x == 0);
  const auto mask = static_cast<unsigned>(_mm256_movemask_pd(zero)) ^ (Zero ? 0U : 15U);
  const std::uint32_t four = mask * 0x204081U & 0x01010101U;  // a byte for each bit
  std::memcpy(to, &four, sizeof four);
}
