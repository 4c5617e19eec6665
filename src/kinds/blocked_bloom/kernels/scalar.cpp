// The scalar kernels: the specification (bloomery/detail/blocked_bloom/layout.hpp) without change.

#include <bloomery/detail/blocked_bloom/kernels.hpp>
#include <bloomery/detail/blocked_bloom/native.hpp>

#include "kinds/blocked_bloom/kernels/table.hpp"

namespace bloomery::detail {
namespace scalar {
namespace {

#include "kinds/blocked_bloom/kernels/loops.inl"

}  // namespace
}  // namespace scalar

const layout_kernels scalar_blocks = {scalar::loops<split_512>, scalar::loops<free_512>,
                                      scalar::loops<parquet_256>};

}  // namespace bloomery::detail
