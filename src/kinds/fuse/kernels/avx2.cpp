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

// Loads of single words: gathers are slow on many CPUs with AVX2.
[[gnu::always_inline]] inline lane_words words_at(const std::byte* from,
                                                  const std::uint64_t* bits) noexcept {
  lane_words words{};
  for (std::size_t i = 0; i < lanes; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, from + (bits[i] >> 3), sizeof word);
    words[i] = word;
  }
  return words >> (load_lanes(bits) & 7);
}

#include "kinds/fuse/kernels/lanes.inl"

}  // namespace
}  // namespace fuse_avx2

const fuse_kernels fuse_kernels::vector256{fuse_avx2::may_contain};

}  // namespace bloomset::detail

BLOOMSET_TARGET_END

#endif
