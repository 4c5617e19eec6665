#pragma once

/// Balls thrown at places, for small numbers of balls. The chances are sums of positive terms,
/// which unlike inclusion and exclusion lose no digits.

#include <algorithm>
#include <array>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomery::formulas {

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

}  // namespace bloomery::formulas

#pragma GCC visibility pop
