#pragma once

// Searches by doubling and bisection.

#include <algorithm>
#include <cstdint>

namespace bloomset::detail {

/// The smallest x in (low, high] for which `good` is true. Preconditions: `good` changes once, is
/// false for low and true for high. It is not called for these two.
template <class Good>
std::uint64_t first_good(std::uint64_t low, std::uint64_t high, Good&& good) {
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (good(middle) ? high : low) = middle;
  }
  return high;
}

/// The same without a known `high`: a number above `limit` if no x up to it is good.
template <class Good>
std::uint64_t first_good_from(std::uint64_t low, std::uint64_t limit, Good&& good) {
  std::uint64_t step = 1;
  std::uint64_t high = low + step;
  while (high <= limit && !good(high)) {
    low = high;
    step *= 2;
    high += step;
  }
  return first_good(low, high, good);
}

/// The largest x in [0, limit] for which `fits` is true. Preconditions: `fits` changes once and is
/// true for 0, for which it is not called.
template <class Fits>
std::uint64_t last_fitting(std::uint64_t limit, Fits&& fits) {
  std::uint64_t low = 0;
  std::uint64_t high = 1;
  while (high <= limit && fits(high)) {
    low = high;
    high *= 2;
  }
  return std::min(limit, first_good(low, high, [&](std::uint64_t x) { return !fits(x); }) - 1);
}

/// The smallest real number in (low, high] for which `good` is true, to `steps` bits of the range.
/// Preconditions: `good` changes once and is true for high, for which it is not called.
template <class Good>
double first_good_real(double low, double high, int steps, Good&& good) {
  for (int step = 0; step < steps; ++step) {
    const double middle = (low + high) / 2;
    (good(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace bloomset::detail
