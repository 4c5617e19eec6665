#if defined(__x86_64__)

#include <immintrin.h>

#include <bloomery/detail/ribbon/kernels.hpp>

#include "cpu/target.hpp"
#include "kinds/ribbon/kernels/table.hpp"

#if !defined(__clang__)
// g++ 12 warns of its own _mm512_undefined_epi32() (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

BLOOMERY_TARGET_BEGIN(
    "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vpopcntdq,avx2,bmi,bmi2,popcnt")

namespace bloomery::detail {
namespace ribbon_avx512 {
namespace {

// NOLINTBEGIN(modernize-avoid-c-arrays,bugprone-misplaced-widening-cast,portability-simd-intrinsics):
// an operator of std::array could be emitted with this target.

// Where in a window the eight bytes of each of 8 columns are: of all r columns, of those from the
// ninth on (r <= 16), and of 8 in 8 words. Those that there are not have any.
struct column_bytes {
  alignas(64) std::uint8_t first[17][64];
  alignas(64) std::uint8_t second[17][64];
};
constexpr column_bytes find_columns() noexcept {
  column_bytes all{};
  for (unsigned r = 1; r <= 16; ++r) {
    for (unsigned i = 0; i < 64; ++i) {
      const unsigned group = i % 8 * r;
      const unsigned column = i / 8;
      all.first[r][i] = static_cast<std::uint8_t>(group + (column < r ? column : 0));
      all.second[r][i] = static_cast<std::uint8_t>(group + (column + 8 < r ? column + 8 : 0));
    }
  }
  return all;
}
constexpr column_bytes columns_of = find_columns();

// Bit c is the parity of word c under the row.
inline std::uint32_t parities(__m512i words, std::uint64_t row) {
  const __m512i under = _mm512_and_si512(words, _mm512_set1_epi64(static_cast<long long>(row)));
  return _mm512_test_epi64_mask(_mm512_popcnt_epi64(under), _mm512_set1_epi64(1));
}

// Reads 64 bytes from the window's first on, with more than 8 columns 128, and with more than 16 at
// most 8 beyond the window: never more than 64 beyond it.
inline std::uint32_t value(const std::byte* window, std::uint32_t columns, std::uint64_t row) {
  if (columns <= 8) {
    const __m512i order = _mm512_load_si512(columns_of.first[columns]);
    const __m512i words = _mm512_permutexvar_epi8(order, _mm512_loadu_si512(window));
    return parities(words, row) & ribbon_mask(columns);
  }
  if (columns <= 16) {
    const __m512i low = _mm512_loadu_si512(window);
    const __m512i high = _mm512_loadu_si512(window + 64);
    const __m512i first = _mm512_load_si512(columns_of.first[columns]);
    const __m512i second = _mm512_load_si512(columns_of.second[columns]);
    const std::uint32_t all = parities(_mm512_permutex2var_epi8(low, first, high), row) |
                              parities(_mm512_permutex2var_epi8(low, second, high), row) << 8;
    return all & ribbon_mask(columns);
  }
  const __m512i order = _mm512_load_si512(columns_of.first[8]);
  const __m256i groups = _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
                                            _mm256_set1_epi32(static_cast<int>(columns)));
  std::uint32_t all = 0;
  for (std::uint32_t first = 0; first < columns; first += 8) {
    const __m512i bytes = _mm512_i32gather_epi64(groups, window + first, 1);
    all |= parities(_mm512_permutexvar_epi8(order, bytes), row) << first;
  }
  return all & ribbon_mask(columns);
}

#include "kinds/ribbon/kernels/band.inl"

inline std::uint64_t fold(__m512i x) {
  const __m256i half = _mm256_xor_si256(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64(x, 1));
  const __m128i quarter =
      _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  return static_cast<std::uint64_t>(
      _mm_cvtsi128_si64(_mm_xor_si128(quarter, _mm_unpackhi_epi64(quarter, quarter))));
}

// As in ribbon_admit.inl: all 64 rows are in 12 vectors.
inline bool admit(band& now, std::uint64_t row, std::uint32_t result, unsigned turn) {
  const std::uint64_t hit = row & now.pivots;
  __m512i row_sum = _mm512_setzero_si512();
  __m512i result_sum = _mm512_setzero_si512();
  for (unsigned v = 0; v < 8; ++v) {
    row_sum = _mm512_mask_xor_epi64(row_sum, static_cast<__mmask8>(hit >> (8 * v)), row_sum,
                                    _mm512_load_si512(now.rows + std::size_t{8} * v));
  }
  for (unsigned v = 0; v < 4; ++v) {
    result_sum =
        _mm512_mask_xor_epi32(result_sum, static_cast<__mmask16>(hit >> (16 * v)), result_sum,
                              _mm512_load_si512(now.results + std::size_t{16} * v));
  }
  row ^= fold(row_sum);
  const std::uint64_t results = fold(result_sum);
  result ^= static_cast<std::uint32_t>(results ^ (results >> 32));
  if (row == 0) return result == 0;
  const unsigned pivot =
      (static_cast<unsigned>(__builtin_ctzll(turn_right(row, turn))) + turn) % 64;
  const __m512i bit = _mm512_set1_epi64(static_cast<long long>(std::uint64_t{1} << pivot));
  const __m512i rows = _mm512_set1_epi64(static_cast<long long>(row));
  std::uint64_t have = 0;
  for (unsigned v = 0; v < 8; ++v) {
    std::uint64_t* const at = now.rows + std::size_t{8} * v;
    const __m512i was = _mm512_load_si512(at);
    const __mmask8 has = _mm512_test_epi64_mask(was, bit);
    _mm512_store_si512(at, _mm512_mask_xor_epi64(was, has, was, rows));
    have |= std::uint64_t{has} << (8 * v);
  }
  for (unsigned v = 0; v < 4; ++v) {
    std::uint32_t* const at = now.results + std::size_t{16} * v;
    const __m512i was = _mm512_load_si512(at);
    _mm512_store_si512(at, _mm512_mask_xor_epi32(was, static_cast<__mmask16>(have >> (16 * v)), was,
                                                 _mm512_set1_epi32(static_cast<int>(result))));
  }
  now.rows[pivot] = row;
  now.results[pivot] = result;
  now.pivots |= std::uint64_t{1} << pivot;
  return true;
}

// NOLINTEND(modernize-avoid-c-arrays,bugprone-misplaced-widening-cast,portability-simd-intrinsics)
#include "kinds/ribbon/kernels/loops.inl"

}  // namespace
}  // namespace ribbon_avx512

const ribbon_kernels avx512_ribbon = {ribbon_avx512::may_contain, ribbon_avx512::build};

}  // namespace bloomery::detail

BLOOMERY_TARGET_END

#endif
