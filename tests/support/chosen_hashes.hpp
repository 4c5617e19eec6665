#pragma once

// Hashes that whoever knows a seed chooses so that a build fails. Tests and bench/ use them.

#include <algorithm>
#include <bloomset/detail/core/bits.hpp>
#include <bloomset/detail/retrieval/layout.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/plan/formulas.hpp>
#include <bloomset/plan/ribbon_plan.hpp>
#include <cstdint>
#include <optional>
#include <vector>

namespace bloomset::test {

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

/// The seed of a level of a ribbon filter, but for the first, which has none.
constexpr std::uint64_t ribbon_level_seed(std::uint64_t seed, std::uint64_t level,
                                          std::uint64_t attempt = 0) {
  return detail::remix64(seed + detail::remix64(64 * level + attempt + 1)) >> 1 | 1;
}

/// The hash whose row is the sum of the rows of these two.
constexpr std::uint64_t row_sum(std::uint64_t first, std::uint64_t second) {
  constexpr std::uint64_t row_factor =
      0x9e3779b97f4a7c15;  // retrieval_row(y) is linear in y times it
  return (first * row_factor ^ second * row_factor) * inverse(row_factor);
}
/// Whether the equations of the three, whose rows add up to zero, contradict each other in the
/// lowest 4 bits of their results.
constexpr bool contradict(std::uint64_t first, std::uint64_t second, std::uint64_t third) {
  return (detail::fingerprint_of(first) ^ detail::fingerprint_of(second) ^
          detail::fingerprint_of(third)) %
             16 !=
         0;
}

/// For each of the 64 tries of a ribbon filter's last level, three hashes whose equations
/// contradict each other. Level i before it leaves them over: there all begin with zeros[i] zero
/// bits, which have to mean the first bucket, and so crowd it.
inline std::vector<hash64> unsolvable_hashes(std::uint64_t seed,
                                             const std::vector<unsigned>& zeros = {}) {
  constexpr unsigned first_window = 9;  // zero bits; a last level has at most 335 starts
  const auto begins_with_zeros = [](std::uint64_t y, unsigned n) { return y >> (64 - n) == 0; };
  std::vector<std::uint64_t> seeds;
  for (std::size_t level = 0; level < zeros.size(); ++level) {
    seeds.push_back(ribbon_level_seed(seed, level));
  }
  // Hashes that are left over, as the last level receives them.
  std::vector<std::uint64_t> left_over;
  std::uint64_t made = 0;
  const auto find_one = [&] {
    for (;;) {
      std::uint64_t y = detail::remix64(++made);
      bool found = true;
      for (std::size_t level = 0; level < zeros.size() && found; ++level) {
        y = level == 0 ? y >> zeros[0] : detail::remix64(y ^ seeds[level]);
        found = begins_with_zeros(y, zeros[level]);
      }
      if (found) return y;
    }
  };
  // The hash that the last level receives so, if the levels before leave it over.
  const auto hash_of = [&](std::uint64_t y) -> std::optional<hash64> {
    for (std::size_t level = zeros.size(); level-- > 0;) {
      if (!begins_with_zeros(y, zeros[level])) return std::nullopt;
      if (level > 0) y = before_remix64(y) ^ seeds[level];
    }
    return hash64{y};
  };
  std::vector<hash64> all;
  for (unsigned attempt = 0; attempt < 64; ++attempt) {
    const std::uint64_t tried = ribbon_level_seed(seed, zeros.size(), attempt);
    std::vector<std::uint64_t> window;
    const std::size_t wanted = all.size() + 3;
    for (std::size_t i = 0; all.size() < wanted; ++i) {
      if (i == left_over.size()) left_over.push_back(find_one());
      const std::uint64_t first = detail::remix64(left_over[i] ^ tried);
      if (!begins_with_zeros(first, first_window)) continue;
      for (const std::uint64_t second : window) {
        const std::uint64_t third = row_sum(first, second);
        if (!begins_with_zeros(third, first_window) || !contradict(first, second, third) ||
            !hash_of(before_remix64(third) ^ tried)) {
          continue;
        }
        for (const std::uint64_t y : {first, second, third}) {
          all.push_back(*hash_of(before_remix64(y) ^ tried));
        }
        break;
      }
      window.push_back(first);
    }
  }
  return all;
}

/// Hashes that make the first levels of a ribbon filter of n keys leave over all keys: for each
/// bucket of each of these levels, three whose equations contradict each other.
inline std::vector<hash64> crowding_hashes(std::uint64_t seed, std::uint64_t n, double fpr,
                                           unsigned levels) {
  const auto eps = fpr - formulas::hash_collision_fpr(static_cast<double>(n));
  const std::uint64_t starts = detail::plan_ribbon_level(n, eps).all_starts();
  const std::uint64_t width = ~std::uint64_t{0} / starts;  // of the hashes of one start
  std::uint64_t made = 0;
  std::vector<hash64> all;
  for (unsigned level = 0; level < levels; ++level) {
    for (std::uint64_t bucket = 0; bucket < starts; bucket += detail::window_64::bucket_starts) {
      // A bucket is left over whole if its sixth start or a later one cannot be kept.
      const std::uint64_t start = std::min(bucket + 10, starts - 1);
      const auto make_one = [&] { return start * width + detail::remix64(++made) % width; };
      const std::uint64_t first = make_one();
      std::uint64_t second = 0;
      std::uint64_t third = 0;
      do {
        second = make_one();
        third = row_sum(first, second);
      } while (third / width != start || !contradict(first, second, third));
      for (std::uint64_t y : {first, second, third}) {
        for (unsigned i = level; i > 0; --i) y = before_remix64(y) ^ ribbon_level_seed(seed, i);
        all.push_back({y});
      }
    }
  }
  return all;
}

}  // namespace bloomset::test
