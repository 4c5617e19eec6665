#if defined(__x86_64__)

#include <immintrin.h>

#include <array>
#include <bloomset/detail/fuse/table.hpp>
#include <cstring>

#include "cpu/target.hpp"

BLOOMSET_TARGET_BEGIN("avx2")

namespace bloomset::detail {
namespace fuse_avx2 {
namespace {

#include "cpu/lanes256.inl"

constexpr unsigned max_bits = 32;
// Such a filter fits into the third-level cache, and the loads of several vectors overlap.
constexpr std::uint64_t max_cached = UINT64_MAX;

// Loads of single words: gathers are slow on many CPUs with AVX2.
[[gnu::always_inline]] inline lane_halves words_at(const std::byte* from,
                                                   const lane_half* bits) noexcept {
  lane_halves words{};
  for (std::size_t i = 0; i < lanes; ++i) {
    lane_half word = 0;
    std::memcpy(&word, from + (bits[i] >> 3), sizeof word);
    words[i] = word;
  }
  return words >> (load_halves(bits) & 7);
}

#include "kinds/fuse/kernels/words.inl"

#include "kinds/fuse/kernels/lanes.inl"

}  // namespace
}  // namespace fuse_avx2

const fuse_kernels fuse_kernels::vector256{fuse_avx2::may_contain};

}  // namespace bloomset::detail

BLOOMSET_TARGET_END

#endif
