#if defined(__x86_64__)

#include <immintrin.h>

#include <bloomset/detail/retrieval/kernels.hpp>

#include "cpu/target.hpp"

BLOOMSET_TARGET_BEGIN("avx2,bmi,bmi2,popcnt")

namespace bloomset::detail {
namespace retrieval_avx2 {
namespace {

#include "kinds/retrieval/kernels/value_256.inl"

inline std::uint32_t value(const std::byte* slots, std::uint32_t columns, std::uint64_t row) {
  return value_256(slots, columns, row);
}
inline std::size_t bytes_read(std::uint32_t columns) {
  return bytes_read_256(columns);
}

#include "kinds/retrieval/kernels/loops.inl"

}  // namespace
}  // namespace retrieval_avx2

const retrieval_kernels retrieval_kernels::vector256 = retrieval_avx2::kernels;

}  // namespace bloomset::detail

BLOOMSET_TARGET_END

#endif
