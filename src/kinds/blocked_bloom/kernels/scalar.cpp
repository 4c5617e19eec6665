// The specification (bloomery/detail/blocked_bloom/layout.hpp) run as it stands.

#include <bloomery/detail/blocked_bloom/kernels.hpp>
#include <bloomery/detail/blocked_bloom/native.hpp>

#include "cpu/sets.hpp"

namespace bloomery::detail {
namespace scalar {
namespace {

#include "kinds/blocked_bloom/kernels/loops.inl"

}  // namespace
}  // namespace scalar

const kernel_set scalar_kernels = {
    "scalar",       scalar::loops<split_512>, scalar::loops<free_512>, scalar::loops<parquet_256>,
    &scalar_ribbon, &scalar_quotient,         &scalar_segments};

}  // namespace bloomery::detail
