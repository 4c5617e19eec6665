#include <algorithm>
#include <array>
#include <bit>
#include <bloomery/detail/block_kernels.hpp>
#include <bloomery/detail/segment.hpp>
#include <cstring>
#include <new>
#include <vector>

#include "kernels/sets.hpp"

namespace bloomery::detail {
namespace scalar {
namespace {

#include "kernels/segment_loops.inl"

}  // namespace
}  // namespace scalar

const segment_kernels scalar_segments = scalar::loops;

const segment_kernels& segment_ops() noexcept {
  return *kernels().segments;
}

}  // namespace bloomery::detail
