#pragma once

// The rows of the table that attack.cpp and attack_long_keys.cpp print.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/any_filter.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

inline constexpr double planned_rate = 0.01;
inline constexpr std::uint64_t public_seed = 0;  ///< the only one that the adversary knows

/// Values for the public seed, the secret seed and the secret key.
inline void print_row(std::string_view attack, std::string_view figure,
                      const std::array<std::string, 3>& values) {
  fmt::print("{:<39} {:<25} {:>12} {:>12} {:>12}\n", attack, figure, values[0], values[1],
             values[2]);
}

inline std::string percent(double share) {
  return fmt::format("{:.2f}%", 100 * share);
}

inline double share_passing(const bloomset::any_filter& filter,
                            const std::vector<std::string>& keys) {
  const auto passing = std::count_if(keys.begin(), keys.end(),
                                     [&](const auto& key) { return filter.may_contain(key); });
  return static_cast<double>(passing) / static_cast<double>(keys.size());
}

/// Prints rows: what long keys that collide under many seeds achieve in filters of that many
/// members, by queries alone.
void attack_by_long_keys(std::uint64_t members);

}  // namespace bench
