#if defined(__x86_64__)

#include <bloomset/detail/ribbon/kernels.hpp>

#include "cpu/avx512.hpp"
#include "cpu/target.hpp"

BLOOMSET_TARGET_BEGIN(
    "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vpopcntdq,avx2,bmi,bmi2,popcnt")

namespace bloomset::detail {
namespace ribbon_avx512 {
namespace {

#include "kinds/ribbon/kernels/columns_first.inl"
#include "kinds/ribbon/kernels/value_256.inl"

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
inline std::size_t bytes_read(std::uint32_t columns) {
  return columns > 8 ? bytes_read_256(columns) : 64;
}

#include "kinds/ribbon/kernels/loops.inl"

}  // namespace
}  // namespace ribbon_avx512

const ribbon_kernels ribbon_kernels::vector512 = {ribbon_avx512::may_contain, ribbon_avx512::build};

}  // namespace bloomset::detail

BLOOMSET_TARGET_END

#endif
