#pragma once

/// The rate of a blocked filter as a mean over its blocks, summed without cancellation: every term
/// is positive, so that the sum keeps the precision of its terms however low the rate is.

#include <cstdint>
#include <vector>

#include "plan/occupancy.hpp"

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomery::formulas {

/// The rate of one block with 0, 1, 2, ... keys, one after the other, where each key sets one bit
/// in each lane: (1 - (1 - 1/w)^i)^L. With two probes, the mean of its square. O(1)
/// each.
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

/// The same where each key sets k bits anywhere in a block: E[(X/b)^k], X the distinct bits of i k
/// throws. With two probes, the mean of the rate's square. O(k^2) each.
/// Precondition: k * probes <= max_given_places.
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
  bool is_empty_ = true;
};

/// Means of a block's rate, with the rates kept that were needed before.
template <class Block>
class block_rates {
 public:
  explicit block_rates(Block block) : block_(block) {}

  /// E[f(i)] for i ~ Binomial(n, 1/blocks), the number of keys in a non-member's block, to 1e-11 of
  /// itself. O(sqrt(n/blocks)) once the rates are known.
  double mean(double n, std::uint64_t blocks);

 private:
  /// f(i); 1 from where it is so to the last digit.
  double at(std::uint64_t keys);

  Block block_;
  std::vector<double> rates_;
};

}  // namespace bloomery::formulas

#pragma GCC visibility pop
