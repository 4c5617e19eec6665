#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <bloomset/detail/expandable/segment_kernels.hpp>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "cpu/target.hpp"

BLOOMSET_TARGET_BEGIN("avx2,bmi,bmi2,popcnt,lzcnt")

namespace bloomset::detail {
namespace bmi2 {
namespace {

unsigned select_one(std::uint64_t x, unsigned k) noexcept {
  return static_cast<unsigned>(_tzcnt_u64(_pdep_u64(std::uint64_t{1} << k, x)));
}
unsigned count_ones(std::uint64_t x) noexcept {
  return static_cast<unsigned>(_mm_popcnt_u64(x));
}

#include "kinds/expandable/kernels/bits.inl"

__m256i read(const std::byte* from) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
// A mask of the bits below number `below` in a row of 256 bits that begins at bit `base`, in words
// of 64. Precondition: both are below 2^15.
__m256i bits_below(std::size_t below, std::size_t base) noexcept {
  // Shifts by 64 less the bits of each word that are below, at least 0. A shift by 64 gives 0.
  const __m256i ends = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<long long>(base)),
                                        _mm256_setr_epi64x(64, 128, 192, 256));
  const __m256i beyond = _mm256_subs_epu16(ends, _mm256_set1_epi64x(static_cast<long long>(below)));
  return _mm256_srlv_epi64(_mm256_set1_epi64x(-1), beyond);
}

// Always at least two vectors, because the number of words is unpredictable. A short block has at
// most 95 slots.
void push_slot(const slot_row& row, std::size_t n, std::size_t at, std::uint64_t entry) noexcept {
  const std::size_t w = row.slot_bits;
  const std::size_t begin = (row.end - (n + 1) * w) / 8;
  const std::size_t end = row.end - at * w - 8 * begin;  // of the new entry
  // The last vector, its neighbour that is shifted in, and the whole bytes of a slot must be
  // inside. Only chosen keys fill a block of 2^15 bits.
  if (begin + end / 8 + 32 + 64 + 16 > row.bytes || end >= 1U << 15) [[unlikely]] {
    push_slot_by_words(row, n, at, entry);
    return;
  }
  const __m128i down = _mm_cvtsi32_si128(static_cast<int>(w % 8));
  const __m128i up = _mm_cvtsi32_si128(64 - static_cast<int>(w % 8));
  const __m256i all = _mm256_set1_epi64x(static_cast<long long>(entry));
  std::byte* to = row.area + begin;
  for (std::size_t base = 0; base < 512 || base < end; base += 256, to += 32) {
    const __m256i shifted = _mm256_or_si256(_mm256_srl_epi64(read(to + w / 8), down),
                                            _mm256_sll_epi64(read(to + w / 8 + 8), up));
    const __m256i before = bits_below(end - w, base);
    const __m256i upto = bits_below(end, base);
    // The entry's bits in each word, shifted in from either side.
    const __m256i words = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<long long>(base)),
                                           _mm256_setr_epi64x(0, 64, 128, 192));
    const __m256i place = _mm256_set1_epi64x(static_cast<long long>(end - w));
    const __m256i here = _mm256_or_si256(_mm256_sllv_epi64(all, _mm256_sub_epi64(place, words)),
                                         _mm256_srlv_epi64(all, _mm256_sub_epi64(words, place)));
    const __m256i made =
        _mm256_or_si256(_mm256_and_si256(shifted, before),
                        _mm256_or_si256(here, _mm256_andnot_si256(upto, read(to))));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), made);
  }
}

#include "kinds/expandable/kernels/loops.inl"

}  // namespace
}  // namespace bmi2

const segment_kernels segment_kernels::vector256 = bmi2::kernels;

// Inserts gain less than a tenth by 512-bit vectors, so only queries differ. Defined here, where
// `kernels` is a constant expression, so that the table exists before any static constructor runs.
constinit const segment_kernels segment_kernels::vector512 = [] {
  segment_kernels all = bmi2::kernels;
  all.contains_batch = contains_by_eights;
  return all;
}();

}  // namespace bloomset::detail

BLOOMSET_TARGET_END

#endif
