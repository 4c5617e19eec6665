// The specification (bloomery/detail/ribbon_layout.hpp) run as it stands.

#include <bloomery/detail/ribbon_kernels.hpp>

#include "kernels/sets.hpp"

namespace bloomery::detail {
namespace ribbon_scalar {
namespace {

inline std::uint32_t value(const std::byte* window, std::uint32_t columns, std::uint64_t row) {
  return ribbon_value(window, columns, row);
}

#include "kernels/ribbon_admit.inl"
#include "kernels/ribbon_loops.inl"

}  // namespace
}  // namespace ribbon_scalar

const ribbon_kernels scalar_ribbon = {ribbon_scalar::may_contain, ribbon_scalar::build};

}  // namespace bloomery::detail
