#pragma once

// Groups of keys: their blocks are prefetched together.

#include <array>
#include <bloomset/detail/vector_quotient/layout.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomset::detail {

/// The place of a key, whose blocks are being prefetched.
[[gnu::always_inline]] inline vector_quotient_place vq_fetch_place(const vq_layout& layout,
                                                                   const std::byte* blocks,
                                                                   hash64 h) noexcept {
  const vector_quotient_place at = layout.place(h);
  prefetch_line(layout.block(blocks, at.first));
  prefetch_line(layout.block(blocks, at.second));
  return at;
}

/// Calls `use(i, place)` for every hash in order until it returns false. The blocks of a group of
/// keys are prefetched before those of the group before are used.
template <class Use>
[[gnu::always_inline]] inline void vq_for_each_place(const vq_layout& layout,
                                                     const std::byte* blocks,
                                                     std::span<const hash64> hashes,
                                                     Use&& use) noexcept {
  constexpr std::size_t group = 16;
  std::array<std::array<vector_quotient_place, group>, 2> places;
  const auto fetch = [&](std::size_t first, auto& to) {
    const std::size_t left = hashes.size() - first;
    const std::size_t size = left < group ? left : group;
    for (std::size_t i = 0; i < size; ++i) {
      to[i] = vq_fetch_place(layout, blocks, hashes[first + i]);
    }
    return size;
  };
  std::size_t size = fetch(0, places[0]);
  for (std::size_t first = 0, turn = 0; size != 0; turn ^= 1) {
    const std::size_t next_size = fetch(first + size, places[turn ^ 1]);
    for (std::size_t i = 0; i < size; ++i) {
      if (!use(first + i, places[turn][i])) return;
    }
    first += size;
    size = next_size;
  }
}

}  // namespace bloomset::detail
