#pragma once

// AVX-512 code, with VBMI, for one key in a block of a blocked Bloom filter. The bits are those of
// the scalar forms in layout.hpp. Include it where the compiler may use these instructions. All
// functions are always inlined: an emitted function of such a name could be linked into code for a
// CPU without AVX-512.
//
// A maskz form with a full mask is the plain instruction. The plain forms make g++ 12 warn of
// undefined values in the compiler's header (GCC bug 105593), also in the user's program.

#include <immintrin.h>

#include <array>
#include <bloomset/detail/blocked_bloom/avx2.hpp>
#include <bloomset/detail/blocked_bloom/layout.hpp>

namespace bloomset::detail::avx512 {

[[gnu::always_inline]] inline __m512i load(const std::byte* block) noexcept {
  return _mm512_loadu_si512(block);
}

// Two loads of half a line. One load of all takes longer from the second-level cache, into which
// lines are prefetched (docs/maintain/decisions/cpu/prefetch.md), and clang joins two that it can
// see.
template <class Byte>
[[gnu::always_inline]] inline __m512i load(prefetched_block<Byte> block) noexcept {
  __m256i low = avx2::load(block);  // NOLINT(misc-const-correctness)
#if defined(__clang__)
  __asm__("" : "+x"(low));
#endif
  return _mm512_maskz_inserti64x4(0xff, _mm512_castsi256_si512(low), avx2::load(block + 32), 1);
}

// The key's bit in each lane. VPMULTISHIFTQB moves the byte at bit 6j of the fields into lane j. A
// rotation uses only the low 6 bits of its count.
[[gnu::always_inline]] inline __m512i mask(split_512, hash64 h) noexcept {
  const std::uint64_t product = h.value * golden64;
  const __m512i fields = _mm512_set1_epi64(static_cast<long long>(product));
  const __m512i offsets = _mm512_setr_epi64(0, 6, 12, 18, 24, 30, 36, 42);
  return _mm512_maskz_rolv_epi64(
      0xff, _mm512_set1_epi64(1),
      _mm512_maskz_multishift_epi64_epi8(~__mmask64{0}, offsets, fields));
}

template <class Block>
[[gnu::always_inline]] inline bool test(split_512 layout, Block block, hash64 h,
                                        unsigned) noexcept {
  return _mm512_testn_epi64_mask(load(block), mask(layout, h)) == 0;
}

template <class Block>
[[gnu::always_inline]] inline bool set(split_512 layout, Block block, hash64 h, unsigned) noexcept {
  const __m512i bits = mask(layout, h);
  const __m512i before = load(block);
  _mm512_storeu_si512(static_cast<std::byte*>(block), _mm512_or_si512(before, bits));
  return _mm512_testn_epi64_mask(before, bits) != 0;
}

// Positions i to i + 7 of the free layout come from h and the powers of the multiplier.
alignas(64) inline constexpr auto golden_powers = [] {
  std::array<std::uint64_t, max_block_hashes> all{};
  std::uint64_t power = 1;
  for (std::uint64_t& one : all) one = power *= golden64;
  return all;
}();

// Whether the words of a block have the bits of positions `first` to `first + 7`, or those of them
// below `hashes`.
[[gnu::always_inline]] inline bool has_eight(__m512i words, hash64 h, unsigned hashes,
                                             unsigned first) noexcept {
  const __m512i x =
      _mm512_maskz_mullo_epi64(0xff, _mm512_set1_epi64(static_cast<long long>(h.value)),
                               _mm512_load_si512(golden_powers.data() + first));
  const __m512i word =
      _mm512_maskz_permutexvar_epi64(0xff, _mm512_maskz_srli_epi64(0xff, x, 61), words);
  const __m512i bit =
      _mm512_maskz_rolv_epi64(0xff, _mm512_set1_epi64(1), _mm512_maskz_srli_epi64(0xff, x, 55));
  const auto wanted = static_cast<__mmask8>(((1U << hashes) - 1) >> first);
  return _mm512_mask_testn_epi64_mask(wanted, word, bit) == 0;
}

// A query in two parts: the first eight positions, and the others.
inline constexpr unsigned first_hashes = 8;
template <class Block>
[[gnu::always_inline]] inline bool has_first(Block block, hash64 h, unsigned hashes) noexcept {
  return has_eight(load(block), h, hashes, 0);
}
[[gnu::always_inline]] inline bool has_rest(const std::byte* block, hash64 h,
                                            unsigned hashes) noexcept {
  static_assert(max_block_hashes == 24);
  const __m512i words = load(block);
  const bool second = has_eight(words, h, hashes, 8);
  if (hashes <= 16) [[likely]]
    return second;
  return second & has_eight(words, h, hashes, 16);
}

// Straight-line code as in avx2.hpp.
[[gnu::always_inline]] inline bool test(free_512, const std::byte* block, hash64 h,
                                        unsigned hashes) noexcept {
  const bool first = has_first(block, h, hashes);
  if (hashes <= first_hashes) return first;
  return first & has_rest(block, h, hashes);
}

// Each position is compared with all words at once: a shift by a count of 64 or more, for a
// position in another word, gives zero. The bits are combined in registers and written once. Up to
// three single writes take less time.
template <class Block>
[[gnu::always_inline]] inline bool set(free_512 layout, Block block, hash64 h,
                                       unsigned hashes) noexcept {
  if (hashes < 4) return scalar::set(layout, static_cast<std::byte*>(block), h, hashes);
  constexpr std::uint64_t none = 4096;
  // NOLINTBEGIN(modernize-avoid-c-arrays): an operator of std::array could be emitted so, too
  alignas(64) std::uint64_t positions[max_block_hashes];
  const __m512i hash = _mm512_set1_epi64(static_cast<long long>(h.value));
  for (unsigned first = 0; first < hashes; first += 8) {
    const auto wanted = static_cast<__mmask8>(((1U << hashes) - 1) >> first);
    const __m512i x =
        _mm512_maskz_mullo_epi64(0xff, hash, _mm512_load_si512(golden_powers.data() + first));
    _mm512_store_si512(positions + first,
                       _mm512_mask_srli_epi64(_mm512_set1_epi64(none), wanted, x, 55));
  }
  const __m512i word_starts = _mm512_setr_epi64(0, 64, 128, 192, 256, 320, 384, 448);
  const auto bit = [&](unsigned i) __attribute__((always_inline)) {
    const __m512i position = _mm512_set1_epi64(static_cast<long long>(positions[i]));
    return _mm512_maskz_sllv_epi64(0xff, _mm512_set1_epi64(1),
                                   _mm512_sub_epi64(position, word_starts));
  };
  const auto four = [&](unsigned i) __attribute__((always_inline)) {
    return _mm512_or_si512(_mm512_or_si512(bit(i), bit(i + 1)),
                           _mm512_or_si512(bit(i + 2), bit(i + 3)));
  };
  __m512i bits = four(0);
  if (hashes > 4) bits = _mm512_or_si512(bits, four(4));
  if (hashes > 8) bits = _mm512_or_si512(bits, four(8));
  if (hashes > 12) bits = _mm512_or_si512(bits, four(12));
  if (hashes > 16) bits = _mm512_or_si512(bits, _mm512_or_si512(four(16), four(20)));
  // NOLINTEND(modernize-avoid-c-arrays)
  const __m512i before = load(block);
  _mm512_storeu_si512(static_cast<std::byte*>(block), _mm512_or_si512(before, bits));
  const __m512i missing = _mm512_maskz_andnot_epi64(0xff, before, bits);
  return _mm512_test_epi64_mask(missing, missing) != 0;
}

// Vectors of 512 bits do not help with blocks of 256.
[[gnu::always_inline]] inline bool test(parquet_256 layout, const std::byte* block, hash64 h,
                                        unsigned hashes) noexcept {
  return avx2::test(layout, block, h, hashes);
}
[[gnu::always_inline]] inline bool set(parquet_256 layout, std::byte* block, hash64 h,
                                       unsigned hashes) noexcept {
  return avx2::set(layout, block, h, hashes);
}

}  // namespace bloomset::detail::avx512
