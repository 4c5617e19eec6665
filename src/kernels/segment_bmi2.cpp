#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <bloomery/detail/block_kernels.hpp>
#include <bloomery/detail/segment.hpp>
#include <cstring>
#include <new>
#include <vector>

#include "kernels/sets.hpp"
#include "kernels/target.hpp"

BLOOMERY_TARGET_BEGIN("avx2,bmi,bmi2,popcnt,lzcnt")

namespace bloomery::detail {
namespace bmi2 {
namespace {

unsigned select_one(std::uint64_t x, unsigned k) noexcept {
  return static_cast<unsigned>(_tzcnt_u64(_pdep_u64(std::uint64_t{1} << k, x)));
}
unsigned count_ones(std::uint64_t x) noexcept {
  return static_cast<unsigned>(_mm_popcnt_u64(x));
}

#include "kernels/segment_loops.inl"

}  // namespace
}  // namespace bmi2

const segment_kernels bmi2_segments = bmi2::loops;

}  // namespace bloomery::detail

BLOOMERY_TARGET_END

#endif
