#pragma once

// Groups of keys: their blocks are prefetched together.

#include <algorithm>
#include <array>
#include <bloomery/detail/core/prefetch.hpp>
#include <bloomery/detail/vector_quotient/layout.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::detail {

inline constexpr std::size_t vq_group_size = 32;

/// The place of a key, whose blocks are being prefetched.
[[gnu::always_inline]] inline vector_quotient_place vq_fetch_place(const vq_layout& layout,
                                                                   const std::byte* blocks,
                                                                   hash64 h) noexcept {
  const vector_quotient_place at = layout.place(h);
  prefetch_line(layout.block(blocks, at.first));
  prefetch_line(layout.block(blocks, at.second));
  return at;
}

/// Calls `use(i, places)` with the places of hashes i, i + 1, .. whose blocks are being prefetched,
/// until it returns false.
template <class Use>
void vq_for_each_group(const vq_layout& layout, const std::byte* blocks,
                       std::span<const hash64> hashes, Use&& use) noexcept {
  std::array<vector_quotient_place, vq_group_size> places;
  for (std::size_t first = 0; first < hashes.size(); first += vq_group_size) {
    const std::size_t n = std::min(vq_group_size, hashes.size() - first);
    for (std::size_t i = 0; i < n; ++i) {
      places[i] = vq_fetch_place(layout, blocks, hashes[first + i]);
    }
    if (!use(first, std::span<const vector_quotient_place>(places.data(), n))) return;
  }
}

// For SIMD kernels (loops.inl) --------------------------------------------------------------------

// NOLINTBEGIN(modernize-avoid-c-arrays): a kernel could emit an operator of std::array
struct vq_group {
  alignas(64) std::uint64_t first[vq_group_size];
  alignas(64) std::uint64_t second[vq_group_size];
  alignas(64) std::uint64_t tag[vq_group_size];

  [[gnu::always_inline]] vector_quotient_place operator[](std::size_t i) const noexcept {
    return {first[i], second[i], tag[i]};
  }
};
// NOLINTEND(modernize-avoid-c-arrays)

}  // namespace bloomery::detail
