#pragma once

// What a kernel of the vector quotient filter goes through and sees.

#include <bloomery/detail/vector_quotient/layout.hpp>
#include <cstddef>
#include <cstdint>

namespace bloomery::detail {

/// Keys whose blocks are fetched while those of as many before them are looked at.
inline constexpr std::size_t vq_group = 32;

// NOLINTBEGIN(modernize-avoid-c-arrays): an operator of std::array could be emitted by a kernel
struct vq_places {
  alignas(64) std::uint64_t first[vq_group];
  alignas(64) std::uint64_t second[vq_group];
  alignas(64) std::uint64_t tag[vq_group];
};
// NOLINTEND(modernize-avoid-c-arrays)

/// The places of some keys, by the specification.
[[gnu::always_inline]] inline void vq_place_each(const vq_layout& layout, const hash64* hashes,
                                                 std::size_t n, vq_places& places) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    const vector_quotient_place at = layout.place(hashes[i]);
    places.first[i] = at.first;
    places.second[i] = at.second;
    places.tag[i] = at.tag;
  }
}

/// In one block.
struct vq_seen {
  unsigned copies;  ///< of the remainder in its bucket
  unsigned slot;    ///< of the first one; of no meaning without any
  unsigned end;     ///< of the bucket's run
  unsigned taken;   ///< slots in use
};

}  // namespace bloomery::detail
