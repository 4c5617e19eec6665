#pragma once

// Hashes that whoever knows a seed chooses so that a build fails. Tests and bench/ use them.

#include <bloomery/detail/core/bits.hpp>
#include <bloomery/detail/ribbon/layout.hpp>
#include <bloomery/hash.hpp>
#include <cstdint>
#include <vector>

namespace bloomery::test {

/// The inverse of an odd number modulo 2^64. Each of Newton's steps doubles the right bits: 3
/// to 96.
constexpr std::uint64_t inverse(std::uint64_t odd) {
  std::uint64_t x = odd;
  for (int i = 0; i < 5; ++i) x *= 2 - odd * x;
  return x;
}

/// The x of which x ^ (x >> n) is `y`.
constexpr std::uint64_t unshifted(std::uint64_t y, unsigned n) {
  std::uint64_t x = y;
  for (unsigned known = n; known < 64; known += n) x = y ^ (x >> n);
  return x;
}

/// The x of which remix64(x), which is a permutation, is `y`.
constexpr std::uint64_t before_remix64(std::uint64_t y) {
  constexpr std::uint64_t undo = inverse(0xe9846af9b1a615d);
  return unshifted(unshifted(unshifted(y, 28) * undo, 32) * undo, 32);
}

/// For each of fuse's 64 tries, which have their own seeds, two hashes of the same three slots.
inline std::vector<hash64> unpeelable_hashes(std::uint64_t seed) {
  std::vector<hash64> all;
  for (std::uint64_t attempt = 1; attempt <= 64; ++attempt) {
    const std::uint64_t tried = detail::remix64(seed + detail::remix64(attempt));
    // The upper bits give the first slot, the lower bits the others.
    const std::uint64_t mixed = detail::remix64(~attempt) & ~(std::uint64_t{1} << 32);
    for (const std::uint64_t middle : {0U, 1U}) {
      all.push_back({before_remix64(mixed | middle << 32) ^ tried});
    }
  }
  return all;
}

/// For each of the 64 tries of a ribbon filter of one level, three hashes of one window. Their rows
/// add up to zero and their results, whose lowest 4 bits count, do not.
inline std::vector<hash64> unsolvable_hashes(std::uint64_t seed) {
  constexpr std::uint64_t row_factor = 0x9e3779b97f4a7c15;  // ribbon_row(y) is linear in y times it
  constexpr unsigned same_bits = 18;                        // of hashes, from the first: one window
  std::vector<hash64> all;
  for (std::uint64_t attempt = 1; attempt <= 64; ++attempt) {
    const std::uint64_t tried = detail::remix64(seed + detail::remix64(attempt)) >> 1 | 1;
    const std::uint64_t first = detail::remix64(~attempt);
    for (std::uint64_t i = 1;; ++i) {
      const std::uint64_t second = first ^ detail::remix64(i) >> same_bits;
      const std::uint64_t third =
          ((first * row_factor) ^ (second * row_factor)) * inverse(row_factor);
      const std::uint32_t results = detail::ribbon_result(first) ^ detail::ribbon_result(second) ^
                                    detail::ribbon_result(third);
      if ((first ^ third) >> (64 - same_bits) != 0 || results % 16 == 0) continue;
      for (const std::uint64_t y : {first, second, third})
        all.push_back({before_remix64(y) ^ tried});
      break;
    }
  }
  return all;
}

}  // namespace bloomery::test
