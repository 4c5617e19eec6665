#pragma once

/// The rate of a blocked filter as a mean over its blocks, and chances of balls thrown at places,
/// for small numbers of balls. All terms of the sums are positive, so they lose no digits.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomset::formulas {

// Twice the functions of a block, for the second moment of its rate.
inline constexpr unsigned max_given_places = 48;
/// A chance for d = 0 to k given places.
using by_places = std::array<double, max_given_places + 1>;

/// P(k throws at `places` places hit d distinct ones). O(k^2).
inline by_places distinct_places(double places, unsigned k) {
  by_places distinct{};
  distinct[0] = 1;
  for (unsigned probe = 0; probe < k; ++probe) {
    for (unsigned d = k; d > 0; --d) {
      const double newly_hit = std::max(0.0, places - (d - 1)) / places;
      distinct[d] = distinct[d] * (d / places) + distinct[d - 1] * newly_hit;
    }
    distinct[0] = 0;
  }
  return distinct;
}

/// From P(d given places are all set) to the same after one more throw. The throw hits one of the d
/// places with chance d/m; then d - 1 remain to be set. O(k).
inline void throw_at_places(by_places& set, double places, unsigned k) {
  for (unsigned d = k; d > 0; --d) {
    const double hit = std::min(1.0, d / places);
    set[d] = (1 - hit) * set[d] + hit * set[d - 1];
  }
}

/// P(all of k probes hit set places) = sum over d of P(the probes are d distinct places) times
/// P(those d places are all set).
inline double all_set(const by_places& distinct, const by_places& set, unsigned k) {
  double rate = 0;
  for (unsigned d = 1; d <= k; ++d) rate += distinct[d] * set[d];
  return std::min(1.0, rate);
}

/// The rate of a block with i = 0, 1, 2, ... keys, from call to call: (1 - (1 - 1/w)^i)^L. Each key
/// sets one bit in each of L lanes of w bits. With two probes next() gives the mean of the squared
/// rate. O(1) per call.
class split_block {
 public:
  split_block(unsigned lanes, unsigned lane_bits, unsigned probes = 1)
      : lanes_(lanes), lane_bits_(lane_bits), probes_(probes) {}
  double next();

 private:
  unsigned lanes_;
  double lane_bits_;
  unsigned probes_;
  double clear_ = 1;       // (1 - 1/w)^i
  double both_clear_ = 1;  // (1 - 2/w)^i
};

/// The same for blocks in which each key sets k bits anywhere: E[(X/b)^k], where X is the number of
/// distinct bits that i k throws set. With two probes, the mean of the squared rate. O(k^2) per
/// call. Precondition: k * probes <= max_given_places.
class free_block {
 public:
  free_block(unsigned block_bits, unsigned k, unsigned probes = 1);
  double next();

 private:
  double bits_;
  unsigned k_;
  unsigned places_;     // k * probes
  by_places distinct_;  // P(k probes hit d distinct bits)
  by_places set_{};     // P(d given bits are all set)
};

/// Means of a block's rate. The rates that were computed are kept.
template <class Block>
class block_rates {
 public:
  explicit block_rates(Block block) : block_(block) {}

  /// E[f(i)] for i ~ Binomial(n, 1/blocks), the number of keys in a non-member's block, to 1e-11 of
  /// itself. O(sqrt(n/blocks)) once the rates are known.
  double mean(double n, std::uint64_t blocks);

 private:
  /// f(i). It is 1 from the i on where it equals 1 in the last digit.
  double at(std::uint64_t keys);

  Block block_;
  std::vector<double> rates_;
};

}  // namespace bloomset::formulas

#pragma GCC visibility pop
