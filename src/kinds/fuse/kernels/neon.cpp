#if defined(__aarch64__)

#include <arm_neon.h>

#include <array>
#include <bloomset/detail/fuse/table.hpp>
#include <cstring>

namespace bloomset::detail {
namespace fuse_neon {
namespace {

#include "cpu/lanes128.inl"

// Fingerprints that a word of 32 bits contains, wherever in a byte they begin.
constexpr unsigned max_bits = 25;
// Smaller filters fit into the second-level cache.
constexpr std::uint64_t max_cached = std::uint64_t{1} << 20;

constexpr std::size_t group = 32;
static_assert(group % lanes == 0);

struct alignas(64) word_places {
  std::array<lane_half, group> bytes;
  std::array<lane_half, group> bits;  // of these bytes

  // Of several keys from number i on.
  [[gnu::always_inline]] void put(std::size_t i, const lane_halves& first_bits) noexcept {
    store_lanes(&bytes[i], first_bits >> 3);
    store_lanes(&bits[i], first_bits & 7);
  }
  [[gnu::always_inline]] void prefetch(std::size_t i, const std::byte* from) const noexcept {
    for (std::size_t k = i; k < i + lanes; ++k) prefetch_line(from + bytes[k]);
  }
  // Shifted, so that the fingerprint comes first.
  [[gnu::always_inline]] lane_halves words(std::size_t i, const std::byte* from) const noexcept {
    lane_halves loaded{};
    for (std::size_t k = 0; k < lanes; ++k) {
      lane_half word = 0;
      std::memcpy(&word, from + bytes[i + k], sizeof word);
      loaded[k] = word;
    }
    return loaded >> load_halves(&bits[i]);
  }
};

#include "kinds/fuse/kernels/lanes.inl"

}  // namespace
}  // namespace fuse_neon

const fuse_kernels fuse_kernels::vector128{fuse_neon::may_contain};

}  // namespace bloomset::detail

#endif
