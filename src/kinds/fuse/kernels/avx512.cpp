#if defined(__x86_64__)

#include <array>
#include <bloomset/detail/fuse/table.hpp>
#include <cstring>

#include "cpu/avx512.hpp"
#include "cpu/target.hpp"

BLOOMSET_TARGET_BEGIN("avx512f,avx512vl,avx512dq")

namespace bloomset::detail {
namespace fuse_avx512 {
namespace {

#include "cpu/lanes512.inl"

[[gnu::always_inline]] inline lane_words words_at(const std::byte* from,
                                                  const std::uint64_t* bits) noexcept {
  const lane_words all = load_lanes(bits);
  const __m512i words = _mm512_i64gather_epi64(reinterpret_cast<__m512i>(all >> 3), from, 1);
  return reinterpret_cast<lane_words>(words) >> (all & 7);
}

#include "kinds/fuse/kernels/lanes.inl"

}  // namespace
}  // namespace fuse_avx512

const fuse_kernels fuse_kernels::vector512{fuse_avx512::may_contain};

}  // namespace bloomset::detail

BLOOMSET_TARGET_END

#endif
