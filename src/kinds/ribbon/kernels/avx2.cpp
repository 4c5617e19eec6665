#if defined(__x86_64__)

#include <immintrin.h>

#include <bloomset/detail/ribbon/kernels.hpp>

#include "cpu/target.hpp"

BLOOMSET_TARGET_BEGIN("avx2,bmi,bmi2,popcnt")

namespace bloomset::detail {
namespace ribbon_avx2 {
namespace {

#include "kinds/ribbon/kernels/value_256.inl"

inline std::uint32_t value(const std::byte* window, std::uint32_t columns, std::uint64_t row) {
  return value_256(window, columns, row);
}
inline std::size_t bytes_read(std::uint32_t columns) {
  return bytes_read_256(columns);
}

#include "kinds/ribbon/kernels/loops.inl"

}  // namespace
}  // namespace ribbon_avx2

const ribbon_kernels ribbon_kernels::vector256 = {ribbon_avx2::may_contain, ribbon_avx2::build};

}  // namespace bloomset::detail

BLOOMSET_TARGET_END

#endif
