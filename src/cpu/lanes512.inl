// Vectors of 512 bits with a key in each lane, for kernels of AVX-512.

constexpr std::size_t lanes = 8;

template <class Words>
[[gnu::always_inline]] inline Words low_product(const Words& a, const Words& b) noexcept {
  return reinterpret_cast<Words>(
      _mm512_mul_epu32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}

#include "cpu/lanes.inl"

// Writes whether each number is zero, or whether it is not.
template <bool Zero>
[[gnu::always_inline]] inline void store_answers(bool* to, const lane_words& x) noexcept {
  const auto words = reinterpret_cast<__m512i>(x);
  const __mmask16 mask =
      Zero ? _mm512_testn_epi64_mask(words, words) : _mm512_test_epi64_mask(words, words);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_maskz_set1_epi8(mask, 1));
}
