#if defined(__x86_64__)

#include <bloomery/detail/ribbon_kernels.hpp>

#include "kernels/sets.hpp"
#include "kernels/target.hpp"

// The scalar code again: the compiler makes better use of it with these.
BLOOMERY_TARGET_BEGIN("avx2,bmi,bmi2,popcnt")

namespace bloomery::detail {
namespace ribbon_avx2 {
namespace {

inline std::uint32_t value(const std::byte* window, std::uint32_t columns, std::uint64_t row) {
  return ribbon_value(window, columns, row);
}

#include "kernels/ribbon_admit.inl"
#include "kernels/ribbon_loops.inl"

}  // namespace
}  // namespace ribbon_avx2

const ribbon_kernels avx2_ribbon = {ribbon_avx2::may_contain, ribbon_avx2::build};

}  // namespace bloomery::detail

BLOOMERY_TARGET_END

#endif
