#pragma once

// The rule from a hash to its places in a fuse filter and to its fingerprint: the specification, in
// scalar code. docs/reference/format.md ("fuse") has it in words.

#include <bloomset/detail/core/bits.hpp>
#include <bloomset/hash.hpp>
#include <cstdint>

namespace bloomset::detail {

/// An entry of the directory. A shard has starts + arity - 1 segments.
struct fuse_shard {
  std::uint32_t first = 0;   ///< its first segment among all
  std::uint32_t starts = 1;  ///< segments that first places are in
  std::uint64_t seed = 0;
};
static_assert(sizeof(fuse_shard) == 16);

/// Mixes a hash and the seed of a shard. A bijection, so that distinct hashes stay distinct.
constexpr std::uint64_t fuse_mix(hash64 h, std::uint64_t seed) noexcept {
  return remix64(h.value ^ seed);
}

/// Calls `use(slot)` for the places of a mixed hash in a shard whose first slot is `first`, and
/// whose first places are in `length` slots: the upper bits choose the first place, the lower bits
/// one in each of the next arity - 1 segments (Graf and Lemire, 2022, section 3).
template <unsigned Arity, class Use>
[[gnu::always_inline]] constexpr void fuse_places(std::uint64_t mixed, std::uint64_t first,
                                                  std::uint64_t length, unsigned segment_log2,
                                                  Use&& use) noexcept {
  std::uint64_t slot = first + mulhi64(mixed, length);
  const std::uint64_t mask = (std::uint64_t{1} << segment_log2) - 1;
  use(slot);
  for (unsigned j = 1; j < Arity; ++j) {
    slot += mask + 1;
    use(slot ^ ((mixed >> ((Arity - 1 - j) * segment_log2)) & mask));
  }
}

/// The fingerprint of a mixed hash, w bits.
constexpr std::uint32_t fuse_fingerprint(std::uint64_t mixed, unsigned w) noexcept {
  return static_cast<std::uint32_t>((mixed * golden64) >> (64 - w));
}

}  // namespace bloomset::detail
