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

constexpr std::size_t group = 32;
struct alignas(64) word_places {
  std::array<lane_half, group> bits;

  [[gnu::always_inline]] void put(std::size_t i, const lane_halves& first_bits) noexcept {
    store_lanes(&bits[i], first_bits);
  }
  void prefetch(std::size_t, const std::byte*) const noexcept {}
  [[gnu::always_inline]] lane_halves words(std::size_t i, const std::byte* from) const noexcept {
    const lane_halves first = load_halves(&bits[i]);
    const __m512i loaded = _mm512_i64gather_epi64(reinterpret_cast<__m512i>(first >> 3), from, 1);
    return reinterpret_cast<lane_halves>(loaded) >> (first & 7);
  }
};

#include "kinds/fuse/kernels/lanes.inl"

}  // namespace
}  // namespace fuse_avx512

const fuse_kernels fuse_kernels::vector512{fuse_avx512::may_contain};

}  // namespace bloomset::detail

BLOOMSET_TARGET_END

#endif
