#pragma once

// AVX2 code for one key in a block of a blocked Bloom filter. The bits are those of the scalar
// forms in layout.hpp. Include it where the compiler may use AVX2 and BMI2. All functions are
// always inlined: an emitted function of such a name could be linked into code for a CPU without
// AVX2.

#include <immintrin.h>

#include <bloomery/detail/blocked_bloom/layout.hpp>

namespace bloomery::detail::avx2 {

struct two_halves {
  __m256i low;
  __m256i high;
};

// The key's bit in each lane of a split block.
[[gnu::always_inline]] inline two_halves mask(split_512, hash64 h) noexcept {
  const std::uint64_t product = h.value * golden64;
  const __m256i fields = _mm256_set1_epi64x(static_cast<long long>(product));
  const __m256i sixes = _mm256_set1_epi64x(63);
  const __m256i one = _mm256_set1_epi64x(1);
  const __m256i low = _mm256_srlv_epi64(fields, _mm256_setr_epi64x(0, 6, 12, 18));
  const __m256i high = _mm256_srlv_epi64(fields, _mm256_setr_epi64x(24, 30, 36, 42));
  return {_mm256_sllv_epi64(one, _mm256_and_si256(low, sixes)),
          _mm256_sllv_epi64(one, _mm256_and_si256(high, sixes))};
}

[[gnu::always_inline]] inline __m256i mask(parquet_256, hash64 h) noexcept {
  const __m256i salts =
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(parquet_256::salts.data()));
  const __m256i low = _mm256_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(h.value)));
  return _mm256_sllv_epi32(_mm256_set1_epi32(1),
                           _mm256_srli_epi32(_mm256_mullo_epi32(low, salts), 27));
}

[[gnu::always_inline]] inline __m256i load(const std::byte* from) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
[[gnu::always_inline]] inline void store(std::byte* to, __m256i value) noexcept {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
}

[[gnu::always_inline]] inline bool test(split_512 layout, const std::byte* block, hash64 h,
                                        unsigned) noexcept {
  const two_halves bits = mask(layout, h);
  const __m256i missing = _mm256_or_si256(_mm256_andnot_si256(load(block), bits.low),
                                          _mm256_andnot_si256(load(block + 32), bits.high));
  return _mm256_testz_si256(missing, missing) != 0;
}

[[gnu::always_inline]] inline bool set(split_512 layout, std::byte* block, hash64 h,
                                       unsigned) noexcept {
  const two_halves bits = mask(layout, h);
  const __m256i low = load(block);
  const __m256i high = load(block + 32);
  const __m256i missing =
      _mm256_or_si256(_mm256_andnot_si256(low, bits.low), _mm256_andnot_si256(high, bits.high));
  store(block, _mm256_or_si256(low, bits.low));
  store(block + 32, _mm256_or_si256(high, bits.high));
  return _mm256_testz_si256(missing, missing) == 0;
}

[[gnu::always_inline]] inline bool test(parquet_256 layout, const std::byte* block, hash64 h,
                                        unsigned) noexcept {
  return _mm256_testc_si256(load(block), mask(layout, h)) != 0;
}

[[gnu::always_inline]] inline bool set(parquet_256 layout, std::byte* block, hash64 h,
                                       unsigned) noexcept {
  const __m256i bits = mask(layout, h);
  const __m256i before = load(block);
  store(block, _mm256_or_si256(before, bits));
  return _mm256_testc_si256(before, bits) == 0;
}

// For the free layout. AVX2 has neither a 64-bit multiplication nor a permutation of 8 words. The
// scalar form, with the shifts of BMI2, is as fast as any form composed of AVX2 instructions.
using scalar::set;
using scalar::test;

}  // namespace bloomery::detail::avx2
