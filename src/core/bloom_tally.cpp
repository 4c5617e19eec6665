#include <algorithm>
#include <bloomery/detail/core/bloom_tally.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

namespace bloomery::detail {

double less_chance(double keys, double chance_keys) noexcept {
  if (!is_finite(keys) || !is_finite(chance_keys)) return std::numeric_limits<double>::infinity();
  return std::max(0.0, keys - chance_keys);
}

std::uint64_t whole_between(std::uint64_t low, double keys, std::uint64_t high) noexcept {
  if (keys <= static_cast<double>(low)) return low;
  return keys >= static_cast<double>(high) ? high : static_cast<std::uint64_t>(std::llround(keys));
}

}  // namespace bloomery::detail
