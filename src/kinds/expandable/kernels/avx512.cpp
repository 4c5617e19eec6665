// As segment_bmi2.cpp, with vectors of 512 bits and masks: what an insert shifts is as a rule in
// one vector, and what is stored needs no detour to end at its last byte.

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <bloomery/detail/expandable/segment.hpp>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "cpu/target.hpp"
#include "kinds/expandable/kernels/table.hpp"

#if !defined(__clang__)
// g++ 12 warns of its own _mm512_undefined_epi32() (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

BLOOMERY_TARGET_BEGIN("avx512f,avx512vl,avx512dq,avx512bw,avx512vbmi2,avx2,bmi,bmi2,popcnt,lzcnt")

namespace bloomery::detail {
namespace avx512_edit {
namespace {

unsigned select_one(std::uint64_t x, unsigned k) noexcept {
  return static_cast<unsigned>(_tzcnt_u64(_pdep_u64(std::uint64_t{1} << k, x)));
}
unsigned count_ones(std::uint64_t x) noexcept {
  return static_cast<unsigned>(_mm_popcnt_u64(x));
}

#include "kinds/expandable/kernels/bits.inl"

// NOLINTBEGIN(portability-simd-intrinsics): this folder is where they belong.

constexpr std::size_t vector_bytes = 64;

__m512i all_words(std::uint64_t x) noexcept {
  return _mm512_set1_epi64(static_cast<long long>(x));
}
// The first n of 64 lanes of a byte.
__mmask64 first_bytes(std::size_t n) noexcept {
  return _bzhi_u64(~std::uint64_t{0}, static_cast<unsigned>(std::min(n, vector_bytes)));
}
// The bits below number `below` of a row of 512 that begins at bit `base`, in words of 64.
// Precondition: both are below 2^15.
__m512i bits_below(std::size_t below, std::size_t base) noexcept {
  // 64 less the bits of each word that are below, at least 0; a shift by more than 63 gives 0.
  const __m512i ends =
      _mm512_add_epi64(all_words(base), _mm512_setr_epi64(64, 128, 192, 256, 320, 384, 448, 512));
  const __m512i beyond = _mm512_subs_epu16(ends, all_words(below));
  return _mm512_srlv_epi64(all_words(~std::uint64_t{0}), beyond);
}

// A short block has at most 95 slots, and two in three have theirs in one vector.
void push_slot(const slot_row& row, std::size_t n, std::size_t at, std::uint64_t entry) noexcept {
  const std::size_t w = row.slot_bits;
  const std::size_t begin = (row.end - (n + 1) * w) / 8;
  const std::size_t end = row.end - at * w - 8 * begin;  // of the new entry
  // Behind the last vector's begin: itself, its neighbour that is shifted in, and a slot's bytes.
  if (begin + end / 8 + vector_bytes + 16 > row.bytes) [[unlikely]] {
    push_slot_by_words(row, n, at, entry);
    return;
  }
  const __m512i down = all_words(w % 8);
  const __m512i all = all_words(entry);
  const std::size_t place = end - w;
  std::byte* to = row.area + begin;
  for (std::size_t base = 0; base < end; base += 8 * vector_bytes, to += vector_bytes) {
    const __m512i shifted = _mm512_shrdv_epi64(_mm512_loadu_si512(to + w / 8),
                                               _mm512_loadu_si512(to + w / 8 + 8), down);
    // The entry's bits in each word, shifted in from either side.
    const __m512i words =
        _mm512_add_epi64(all_words(base), _mm512_setr_epi64(0, 64, 128, 192, 256, 320, 384, 448));
    const __m512i here =
        _mm512_or_si512(_mm512_sllv_epi64(all, _mm512_sub_epi64(all_words(place), words)),
                        _mm512_srlv_epi64(all, _mm512_sub_epi64(words, all_words(place))));
    const __m512i before = _mm512_and_si512(shifted, bits_below(place, base));
    const __m512i behind = _mm512_andnot_si512(bits_below(end, base), _mm512_loadu_si512(to));
    _mm512_storeu_si512(to, _mm512_or_si512(before, _mm512_or_si512(here, behind)));
  }
}

void store_code(std::byte* block, const code_words& words, unsigned n) noexcept {
  const __m128i all =
      _mm_set_epi64x(static_cast<long long>(words.high), static_cast<long long>(words.low));
  _mm_mask_storeu_epi8(block, static_cast<__mmask16>(_bzhi_u32(~0U, n)), all);
}

// Between two blocks near each other there are some hundred bytes.
void open_gap(std::byte* at, std::size_t n, std::size_t gap) noexcept {
  if (n > 3 * vector_bytes || gap > vector_bytes) [[unlikely]] {
    open_gap_by_bytes(at, n, gap);
    return;
  }
  const __mmask64 first = first_bytes(n);
  const __mmask64 second = first_bytes(n - std::min(n, vector_bytes));
  const __mmask64 third = first_bytes(n - std::min(n, 2 * vector_bytes));
  const __m512i a = _mm512_maskz_loadu_epi8(first, at);
  const __m512i b = _mm512_maskz_loadu_epi8(second, at + vector_bytes);
  const __m512i c = _mm512_maskz_loadu_epi8(third, at + 2 * vector_bytes);
  _mm512_mask_storeu_epi8(at, first_bytes(gap), _mm512_setzero_si512());
  _mm512_mask_storeu_epi8(at + gap, first, a);
  _mm512_mask_storeu_epi8(at + gap + vector_bytes, second, b);
  _mm512_mask_storeu_epi8(at + gap + 2 * vector_bytes, third, c);
}

// Nothing behind them is read or cleared.
void copy_bytes(std::byte* to, const std::byte* from, std::size_t n, bool /*is_inside*/) noexcept {
  std::size_t at = 0;
  do {
    const __mmask64 used = first_bytes(n - at);
    _mm512_mask_storeu_epi8(to + at, used, _mm512_maskz_loadu_epi8(used, from + at));
    at += vector_bytes;
  } while (at < n);
}

// NOLINTEND(portability-simd-intrinsics)

#include "kinds/expandable/kernels/loops.inl"

}  // namespace
}  // namespace avx512_edit

const segment_kernels avx512_segments = [] {
  segment_kernels all = avx512_edit::loops;
  all.ask = ask_eight_at_once;
  return all;
}();

}  // namespace bloomery::detail

BLOOMERY_TARGET_END

#endif
