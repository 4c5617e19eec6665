#if defined(__x86_64__)

#include <array>
#include <bloomset/detail/fuse/table.hpp>
#include <cstring>

#include "cpu/avx512.hpp"
#include "cpu/target.hpp"

BLOOMSET_TARGET_BEGIN("avx512f,avx512vl,avx512dq,avx512bw")

namespace bloomset::detail {
namespace fuse_avx512 {
namespace {

#include "cpu/lanes512.inl"

constexpr unsigned max_bits = 32;
// Such a filter fits into the third-level cache, and the loads of several vectors overlap.
constexpr std::uint64_t max_cached = UINT64_MAX;

[[gnu::always_inline]] inline lane_halves words_at(const std::byte* from,
                                                   const lane_half* bits) noexcept {
  const lane_halves all = load_halves(bits);
  const __m512i words = _mm512_i64gather_epi64(reinterpret_cast<__m512i>(all >> 3), from, 1);
  return reinterpret_cast<lane_halves>(words) >> (all & 7);
}

#include "kinds/fuse/kernels/words.inl"

#include "kinds/fuse/kernels/lanes.inl"

}  // namespace
}  // namespace fuse_avx512

const fuse_kernels fuse_kernels::vector512{fuse_avx512::may_contain};

}  // namespace bloomset::detail

BLOOMSET_TARGET_END

#endif
