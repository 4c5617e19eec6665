// The specification (bloomery/detail/block_layout.hpp) run as it stands.

#include <bloomery/detail/block_kernels.hpp>
#include <bloomery/detail/block_native.hpp>

#include "kernels/sets.hpp"

namespace bloomery::detail {
namespace scalar {
namespace {

#include "kernels/block_loops.inl"

}  // namespace
}  // namespace scalar

const kernel_set scalar_kernels = {
    "scalar",       scalar::loops<split_512>, scalar::loops<free_512>, scalar::loops<parquet_256>,
    &scalar_ribbon, &scalar_quotient,         &scalar_segments};

}  // namespace bloomery::detail
