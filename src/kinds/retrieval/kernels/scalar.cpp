// The loops with value_of_slots, the specification in bloomset/detail/retrieval/layout.hpp.

#include <bloomset/detail/retrieval/kernels.hpp>

#include "cpu/dispatch.hpp"

namespace bloomset::detail {
namespace retrieval_scalar {
namespace {

inline std::uint32_t value(const std::byte* slots, std::uint32_t columns, std::uint64_t row) {
  return value_of_slots(slots, columns, row);
}
inline std::size_t bytes_read(std::uint32_t columns) {
  return std::size_t{8} * columns;
}

#include "kinds/retrieval/kernels/loops.inl"

}  // namespace
}  // namespace retrieval_scalar

const retrieval_kernels retrieval_kernels::scalar = retrieval_scalar::kernels;

const retrieval_kernels& retrieval_ops() noexcept {
  return chosen_kernels<retrieval_kernels>();
}

}  // namespace bloomset::detail
