#pragma once

// Where a fuse filter's fingerprints are: the shard, the places in it, and the fingerprint. Scalar,
// and the specification (docs/format.md, "fuse").

#include <bloomery/detail/core/bits.hpp>
#include <bloomery/hash.hpp>
#include <cstddef>
#include <cstdint>

namespace bloomery::detail {

/// A shard's line in the directory: its first segment among all, the number of segments in which
/// first places are (arity - 1 more follow them), and its seed.
struct fuse_shard {
  std::uint32_t first = 0;
  std::uint32_t starts = 1;
  std::uint64_t seed = 0;
};
static_assert(sizeof(fuse_shard) == 16);

/// A hash under a shard's seed. A bijection, so that distinct hashes stay distinct.
constexpr std::uint64_t fuse_mix(hash64 h, std::uint64_t seed) noexcept {
  return remix64(h.value ^ seed);
}

/// The places of a mixed hash in its shard: one in a segment, chosen by the upper bits, and one in
/// each of the next, chosen by the lower bits (Graf and Lemire, 2022, section 3). `use(place)` is
/// called in the order of the segments.
template <unsigned Arity, class Use>
constexpr void fuse_places(std::uint64_t mixed, std::uint64_t starts, unsigned segment_log2,
                           Use&& use) noexcept {
  std::uint64_t place = mulhi64(mixed, starts << segment_log2);
  const std::uint64_t mask = (std::uint64_t{1} << segment_log2) - 1;
  use(place);
  for (unsigned j = 1; j < Arity; ++j) {
    place += mask + 1;
    use(place ^ ((mixed >> ((Arity - 1 - j) * segment_log2)) & mask));
  }
}

/// The fingerprint of a mixed hash, w bits.
constexpr std::uint32_t fuse_fingerprint(std::uint64_t mixed, unsigned w) noexcept {
  return static_cast<std::uint32_t>((mixed * 0x9e3779b97f4a7c15) >> (64 - w));
}

}  // namespace bloomery::detail
