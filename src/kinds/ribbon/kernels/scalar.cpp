// The loops with ribbon_value, the specification in bloomset/detail/ribbon/layout.hpp.

#include <bloomset/detail/ribbon/kernels.hpp>

#include "cpu/dispatch.hpp"

namespace bloomset::detail {
namespace ribbon_scalar {
namespace {

inline std::uint32_t value(const std::byte* window, std::uint32_t columns, std::uint64_t row) {
  return ribbon_value(window, columns, row);
}
inline std::size_t bytes_read(std::uint32_t columns) {
  return std::size_t{8} * columns;
}

#include "kinds/ribbon/kernels/loops.inl"

}  // namespace
}  // namespace ribbon_scalar

const ribbon_kernels ribbon_kernels::scalar = {ribbon_scalar::may_contain, ribbon_scalar::build};

const ribbon_kernels& ribbon_ops() noexcept {
  return chosen_kernels<ribbon_kernels>();
}

}  // namespace bloomset::detail
