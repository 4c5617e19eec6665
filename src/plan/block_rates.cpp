#include "plan/block_rates.hpp"

#include <algorithm>
#include <bloomset/plan/numeric.hpp>
#include <cmath>

namespace bloomset::formulas {
namespace {

// With more keys all bits of a block are set: one of 512 bits is clear with a chance below 10^-50
// even with one bit per key.
constexpr double full_load = 0x1p16;
constexpr double all_but_one = 1 - 0x1p-53;
// Terms below this share of the sum are left out. Further terms decrease at least geometrically.
constexpr double negligible = 1e-16;

}  // namespace

double split_block::next() {
  const double set = 1 - clear_;
  // E[(X/w)^2] is the chance that two probes of a lane hit set bits: the same bit, or two.
  const double of_lane =
      probes_ == 1 ? set : set / lane_bits_ + (1 - 1 / lane_bits_) * (set - clear_ + both_clear_);
  clear_ *= 1 - 1 / lane_bits_;
  both_clear_ *= 1 - 2 / lane_bits_;
  return numeric::power(std::max(0.0, of_lane), lanes_);
}

free_block::free_block(unsigned block_bits, unsigned k, unsigned probes)
    : bits_(block_bits),
      k_(k),
      places_(k * probes),
      distinct_(distinct_places(block_bits, places_)) {
  set_[0] = 1;
}

double free_block::next() {
  const double rate = all_set(distinct_, set_, places_);
  for (unsigned probe = 0; probe < k_; ++probe) throw_at_places(set_, bits_, places_);
  return rate;
}

template <class Block>
double block_rates<Block>::at(std::uint64_t keys) {
  while (rates_.size() <= keys) {
    if (!rates_.empty() && rates_.back() >= all_but_one) return 1;
    rates_.push_back(block_.next());
  }
  return rates_[keys];
}

template <class Block>
double block_rates<Block>::mean(double n, std::uint64_t blocks) {
  const auto all = static_cast<double>(blocks);
  if (!(n > 0)) return 0;
  if (n >= full_load * all) return 1;
  if (blocks == 1) return at(static_cast<std::uint64_t>(std::ceil(n)));
  // P(i + 1) / P(i) = (n - i) / ((i + 1) (blocks - 1)). The sum goes in both directions from the
  // most likely i, whose weight is 1. The weights are divided by their sum at the end.
  const auto mode = static_cast<std::uint64_t>((n + 1) / all);
  double weights = 0;
  double sum = 0;
  double weight = 1;
  for (std::uint64_t i = mode; weight > negligible * sum || i <= mode + 1; ++i) {
    weights += weight;
    sum += weight * at(i);
    const auto keys = static_cast<double>(i);
    if (keys >= n) break;
    weight *= (n - keys) / ((keys + 1) * (all - 1));
  }
  weight = 1;
  for (std::uint64_t i = mode; i != 0 && weight > negligible * weights;) {
    const auto keys = static_cast<double>(i--);
    weight *= keys * (all - 1) / (n - keys + 1);
    weights += weight;
    sum += weight * at(i);
  }
  return std::min(1.0, sum / weights);
}

template class block_rates<split_block>;
template class block_rates<free_block>;

}  // namespace bloomset::formulas
