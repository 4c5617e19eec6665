#pragma once

/// Copies of keys beyond those in the table, counted by full hash.

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
counted_copies copies_at(std::span<const std::byte> list, std::size_t i) noexcept;

/// The first element whose hash is not below h, by bisection. `size` elements; reads only the list,
/// whatever its bytes are.
std::size_t lower_bound(std::span<const std::byte> list, std::size_t size, hash64 h) noexcept;

/// Copies of one hash; 0 if it is not in the list.
std::uint64_t counted_of(std::span<const std::byte> list, std::size_t size, hash64 h) noexcept;

/// Copies of all hashes.
double copies_counted(std::span<const std::byte> list, std::size_t size) noexcept;

}  // namespace bloomery::detail
