#pragma once

/// Copies of keys beyond those in the table, counted by full hash.

#include <bloomery/detail/core/bits.hpp>
#include <bloomery/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::detail {

/// One key of a segment's list, which is in ascending order of hashes.
struct counted_copies {
  std::uint64_t hash;
  std::uint64_t copies;  ///< beyond those in the table
};
static_assert(sizeof(counted_copies) == 16);

/// Element i of a list.
inline counted_copies copies_at(std::span<const std::byte> list, std::size_t i) noexcept {
  return load<counted_copies>(list.data() + i * sizeof(counted_copies));
}

/// Copies of one hash; 0 if it is not in the list. Reads only the list, whatever its bytes are.
inline std::uint64_t counted_of(std::span<const std::byte> list, hash64 h) noexcept {
  std::size_t first = 0;
  for (std::size_t size = list.size() / sizeof(counted_copies); size != 0;) {
    const std::size_t half = size / 2;
    const counted_copies each = copies_at(list, first + half);
    if (each.hash == h.value) return each.copies;
    const bool is_below = each.hash < h.value;
    if (is_below) first += half + 1;
    size = is_below ? size - half - 1 : half;
  }
  return 0;
}

}  // namespace bloomery::detail
