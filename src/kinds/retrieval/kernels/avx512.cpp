#if defined(__x86_64__)

#include <bloomset/detail/retrieval/kernels.hpp>

#include "cpu/avx512.hpp"
#include "cpu/target.hpp"

BLOOMSET_TARGET_BEGIN(
    "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vpopcntdq,avx2,bmi,bmi2,popcnt")

namespace bloomset::detail {
namespace retrieval_avx512 {
namespace {

#include "kinds/retrieval/kernels/columns_first.inl"
#include "kinds/retrieval/kernels/value_256.inl"

// Reads at most 64 bytes beyond the slots.
inline std::uint32_t value(const std::byte* slots, std::uint32_t columns, std::uint64_t row) {
  if (columns > 8) return value_256(slots, columns, row);
  const __m512i order = _mm512_load_si512(columns_first.by_columns[columns]);
  const __m512i words = _mm512_permutexvar_epi8(order, _mm512_loadu_si512(slots));
  const __m512i masked = _mm512_and_si512(words, _mm512_set1_epi64(static_cast<long long>(row)));
  const __mmask8 parities =
      _mm512_test_epi64_mask(_mm512_popcnt_epi64(masked), _mm512_set1_epi64(1));
  return parities & column_mask(columns);
}
inline std::size_t bytes_read(std::uint32_t columns) {
  return columns > 8 ? bytes_read_256(columns) : 64;
}

#include "kinds/retrieval/kernels/loops.inl"

}  // namespace
}  // namespace retrieval_avx512

const retrieval_kernels retrieval_kernels::vector512 = retrieval_avx512::kernels;

}  // namespace bloomset::detail

BLOOMSET_TARGET_END

#endif
