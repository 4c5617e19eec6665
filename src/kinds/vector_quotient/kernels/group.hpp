#pragma once

// Groups of keys: their blocks are prefetched together.

#include <array>
#include <bloomset/detail/vector_quotient/layout.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomset::detail {

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

/// Calls `use(i, place)` for every hash in order until it returns false. The blocks of a later hash
/// are prefetched before each call.
template <class Use>
void vq_for_each_place(const vq_layout& layout, const std::byte* blocks,
                       std::span<const hash64> hashes, Use&& use) noexcept {
  constexpr std::size_t ahead = vq_group_size / 2;
  std::array<vector_quotient_place, vq_group_size> places;
  const auto fetch = [&](std::size_t i) {
    if (i < hashes.size()) places[i % vq_group_size] = vq_fetch_place(layout, blocks, hashes[i]);
  };
  for (std::size_t i = 0; i < ahead; ++i) fetch(i);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    fetch(i + ahead);
    if (!use(i, places[i % vq_group_size])) return;
  }
}

}  // namespace bloomset::detail
