#pragma once

// A ribbon filter for tens to thousands of keys: one system of equations, no levels, no shards.

#include <bloomery/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::leveldb_entries {

inline constexpr unsigned max_columns = 32;
/// Slots that a key's equation is over: all of them, or so many neighbours.
inline constexpr std::uint64_t window = 128;

/// Where the bits of a short ribbon filter are: column after column, `slots` bits each, the least
/// significant bit of a byte first.
struct short_ribbon {
  std::uint64_t slots = 0;  ///< m, from 1
  unsigned columns = 0;     ///< r, 1 to 32
  std::uint8_t seed = 0;

  std::uint64_t bytes() const noexcept { return (slots * columns + 7) / 8; }
};

/// The fewest slots with which n distinct keys are worth a try. n >= 1.
std::uint64_t min_slots(std::uint64_t n) noexcept;

/// Solves the equations of the hashes, which are distinct: each says that the exclusive or of the
/// slots that it chooses is its result of r bits (M. Dietzfelbinger, S. Walzer, "Efficient Gauss
/// Elimination for Near-Quadratic Matrices with One Short Random Block per Row", 2019; P.
/// Dillinger, S. Walzer, "Ribbon filter: practically smaller than Bloom and Xor", 2021). False if
/// they contradict each other: another seed or more slots may help. With m <= 128 an equation is
/// over all slots, and n = m is solvable with probability 0.29. `bits` has shape.bytes() zero
/// bytes. O(n).
bool solve(const short_ribbon& shape, std::span<const hash64> hashes, std::span<std::byte> bits);

/// Whether the equation of a hash holds: always for those that it was solved for, with probability
/// 2^-r for others. Precondition: bits.size() == shape.bytes(). O(r), two columns on average.
bool may_contain(const short_ribbon& shape, std::span<const std::byte> bits, hash64 h) noexcept;

}  // namespace bloomery::leveldb_entries
