#if defined(__x86_64__)

#include <bloomery/detail/ribbon/kernels.hpp>

#include "cpu/avx512.hpp"
#include "cpu/target.hpp"

BLOOMERY_TARGET_BEGIN(
    "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vpopcntdq,avx2,bmi,bmi2,popcnt")

namespace bloomery::detail {
namespace ribbon_avx512 {
namespace {

#include "kinds/ribbon/kernels/value_256.inl"

// NOLINTBEGIN(modernize-avoid-c-arrays,portability-simd-intrinsics): an operator of std::array
// could be emitted with this target.

// VPERMB orders the bytes of a window of r <= 8 columns by columns: word c has column c, and
// column 0 again behind the last.
struct column_table {
  alignas(64) std::uint8_t by_columns[9][64];
};
constexpr column_table make_column_table() noexcept {
  column_table table{};
  for (unsigned r = 1; r <= 8; ++r) {
    for (unsigned i = 0; i < 64; ++i) {
      const unsigned column = i / 8;
      table.by_columns[r][i] = static_cast<std::uint8_t>(i % 8 * r + (column < r ? column : 0));
    }
  }
  return table;
}
constexpr column_table columns_first = make_column_table();

// Reads at most 64 bytes beyond the window.
inline std::uint32_t value(const std::byte* window, std::uint32_t columns, std::uint64_t row) {
  if (columns > 8) return value_256(window, columns, row);
  const __m512i order = _mm512_load_si512(columns_first.by_columns[columns]);
  const __m512i words = _mm512_permutexvar_epi8(order, _mm512_loadu_si512(window));
  const __m512i masked = _mm512_and_si512(words, _mm512_set1_epi64(static_cast<long long>(row)));
  const __mmask8 parities =
      _mm512_test_epi64_mask(_mm512_popcnt_epi64(masked), _mm512_set1_epi64(1));
  return parities & ribbon_mask(columns);
}
// NOLINTEND(modernize-avoid-c-arrays,portability-simd-intrinsics)

#include "kinds/ribbon/kernels/loops.inl"

}  // namespace
}  // namespace ribbon_avx512

const ribbon_kernels ribbon_kernels::avx512 = {ribbon_avx512::may_contain, ribbon_avx512::build};

}  // namespace bloomery::detail

BLOOMERY_TARGET_END

#endif
