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

#include "kinds/fuse/kernels/words.inl"

#include "kinds/fuse/kernels/lanes.inl"

}  // namespace
}  // namespace fuse_neon

const fuse_kernels fuse_kernels::vector128{fuse_neon::may_contain};

}  // namespace bloomset::detail

#endif
