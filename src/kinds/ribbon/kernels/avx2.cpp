#if defined(__x86_64__)

#include <immintrin.h>

#include <bloomery/detail/ribbon/kernels.hpp>

#include "cpu/target.hpp"
#include "kinds/ribbon/kernels/table.hpp"

BLOOMERY_TARGET_BEGIN("avx2,bmi,bmi2,popcnt")

namespace bloomery::detail {
namespace ribbon_avx2 {
namespace {

// NOLINTBEGIN(modernize-avoid-c-arrays,portability-simd-intrinsics,misc-const-correctness): an
// operator of std::array could be emitted with this target.

// A vector of 32 bytes holds 4 groups of up to 8 columns, 2 of up to 16 or 1 of up to 32: which of
// them each byte belongs to, by the number of columns. What is beyond them has 0x80, for which
// VPSHUFB gives zero.
struct group_bytes {
  alignas(32) std::uint8_t of[33][32];
};
constexpr unsigned groups_of(unsigned columns) noexcept {
  return columns <= 8 ? 4 : columns <= 16 ? 2 : 1;
}
constexpr group_bytes find_groups_of_bytes() noexcept {
  group_bytes all{};
  for (unsigned r = 0; r <= 32; ++r) {
    for (unsigned i = 0; i < 32; ++i) {
      all.of[r][i] = static_cast<std::uint8_t>(i < groups_of(r) * r ? i / r : 0x80);
    }
  }
  return all;
}
constexpr group_bytes group_of_byte = find_groups_of_bytes();

// Vectors of a window's groups, each under its groups' bytes of the row, are added up; then the
// parities of the sum's bytes are gathered, and those of its groups added up.
template <unsigned Groups>
inline std::uint32_t value(const std::byte* window, std::uint32_t columns, std::uint64_t row) {
  const __m256i rows = _mm256_set1_epi64x(static_cast<long long>(row));
  __m256i order = _mm256_load_si256(reinterpret_cast<const __m256i*>(group_of_byte.of[columns]));
  __m256i sum = _mm256_setzero_si256();
  for (unsigned group = 0; group < 8; group += Groups) {
    const __m256i bytes =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(window + std::size_t{group} * columns));
    sum = _mm256_xor_si256(sum, _mm256_and_si256(bytes, _mm256_shuffle_epi8(rows, order)));
    order = _mm256_add_epi8(order, _mm256_set1_epi8(Groups));
  }
  // Into each byte's highest bit; what its neighbour shifts in stays below.
  sum = _mm256_xor_si256(sum, _mm256_slli_epi16(sum, 4));
  sum = _mm256_xor_si256(sum, _mm256_slli_epi16(sum, 2));
  sum = _mm256_xor_si256(sum, _mm256_slli_epi16(sum, 1));
  std::uint64_t parities = static_cast<std::uint32_t>(_mm256_movemask_epi8(sum));
  if constexpr (Groups == 4) parities ^= parities >> (2 * columns);
  if constexpr (Groups >= 2) parities ^= parities >> columns;
  return static_cast<std::uint32_t>(parities) & ribbon_mask(columns);
}

// Reads at most 32 bytes beyond the window.
inline std::uint32_t value(const std::byte* window, std::uint32_t columns, std::uint64_t row) {
  if (columns <= 8) return value<4>(window, columns, row);
  if (columns <= 16) return value<2>(window, columns, row);
  return value<1>(window, columns, row);
}
// NOLINTEND(modernize-avoid-c-arrays,portability-simd-intrinsics,misc-const-correctness)

#include "kinds/ribbon/kernels/admit.inl"
#include "kinds/ribbon/kernels/loops.inl"

}  // namespace
}  // namespace ribbon_avx2

const ribbon_kernels avx2_ribbon = {ribbon_avx2::may_contain, ribbon_avx2::build};

}  // namespace bloomery::detail

BLOOMERY_TARGET_END

#endif
