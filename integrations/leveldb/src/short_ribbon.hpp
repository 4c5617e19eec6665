#pragma once

// A ribbon filter for tens to thousands of keys: one system of equations, no levels, no shards.

#include <bloomset/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomset::leveldb_entries {

inline constexpr unsigned max_columns = 32;
/// Slots of a key's equation: all slots, or this many neighbours.
inline constexpr std::uint64_t window = 128;

/// Layout of the bits of a short ribbon filter: column after column, `slots` bits each, beginning
/// with the least significant bit of a byte.
struct short_ribbon {
  std::uint64_t slots = 0;  ///< m, from 1
  unsigned columns = 0;     ///< r, 1 to 32
  std::uint8_t seed = 0;

  std::uint64_t bytes() const noexcept { return (slots * columns + 7) / 8; }
};

/// The fewest slots that are worth a try for n distinct keys. n >= 1.
std::uint64_t min_slots(std::uint64_t n) noexcept;

/// Solves the equations of the hashes, which are distinct. In each equation the XOR of its chosen
/// slots is its result of r bits (M. Dietzfelbinger, S. Walzer, "Efficient Gauss Elimination for
/// Near-Quadratic Matrices with One Short Random Block per Row", 2019; P. Dillinger, S. Walzer,
/// "Ribbon filter: practically smaller than Bloom and Xor", 2021). Returns false if the equations
/// contradict each other; another seed or more slots may help. With m <= 128 an equation is over
/// all slots, and n = m is solvable with probability 0.29. Precondition: `bits` has shape.bytes()
/// zero bytes. O(n).
bool solve(const short_ribbon& shape, std::span<const hash64> hashes, std::span<std::byte> bits);

/// Whether the equation of a hash holds. It always holds for solved hashes, and with probability
/// 2^-r for others. Precondition: bits.size() == shape.bytes(). O(r), two columns on average.
bool may_contain(const short_ribbon& shape, std::span<const std::byte> bits, hash64 h) noexcept;

}  // namespace bloomset::leveldb_entries
