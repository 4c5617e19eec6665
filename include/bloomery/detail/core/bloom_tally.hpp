#pragma once

// The number of keys of a union or an intersection of Bloom filters.

#include <bloomery/detail/core/bits.hpp>
#include <cstdint>
#include <limits>

namespace bloomery::detail {

/// The least number of chance_keys above zero. In files the number is 0, at least this, or
/// infinite.
inline constexpr double min_chance_keys = 0x1p-20;
constexpr bool is_chance_keys(double keys) noexcept {
  return keys == 0 || keys >= min_chance_keys;
}

/// The known numbers of a Bloom filter.
struct bloom_tally {
  std::uint64_t ones;   ///< set bits
  std::uint64_t count;  ///< keys as the filter counted them
  double chance_keys;   ///< keys that the bits show beyond those in the filter; infinite: unknown
};

/// The figures of a Bloom filter that are read from its bits.
struct bloom_figures {
  double fill;
  double current_fpr;
  double estimated_size;
};

/// std::isfinite, without the time that <cmath> takes to compile.
constexpr bool is_finite(double x) noexcept {
  return x - x == 0;
}

/// The estimated number of keys without those that the bits show by chance. Infinite if unknown.
double less_chance(double keys, double chance_keys) noexcept;

/// The nearest whole number, within bounds.
std::uint64_t whole_between(std::uint64_t low, double keys, std::uint64_t high) noexcept;

/// The tally of a union, whose bits are those of either filter. keys_of(ones) estimates the number
/// of keys from the number of set bits. a.ones and b.ones are read only if one of the filters has
/// chance_keys.
template <class KeysOf>
bloom_tally union_of(const bloom_tally& a, const bloom_tally& b, std::uint64_t ones,
                     KeysOf&& keys_of) noexcept {
  bloom_tally both{ones, 0, 0};
  // Bits that chance left in one filter may belong to keys of the other. If one filter has all bits
  // of the union, it has all keys of the union.
  if (a.chance_keys != 0 || b.chance_keys != 0) {
    both.chance_keys = ones == a.ones   ? a.chance_keys
                       : ones == b.ones ? b.chance_keys
                                        : std::numeric_limits<double>::infinity();
  }
  both.count = whole_between(detail::max(a.count, b.count),
                             less_chance(keys_of(ones), both.chance_keys), a.count + b.count);
  return both;
}

/// The tally of an intersection, whose bits are those that both filters have.
///
/// Common keys leave their bits there, and so do different keys whose bits meet by chance. The
/// common keys are therefore estimated by inclusion and exclusion, |a| + |b| - |a or b|. The union
/// has as many set bits as a and b together, less the common ones. This holds for filters without
/// chance_keys: bits that chance left may be in the other filter because of the same keys.
template <class KeysOf>
bloom_tally common_of(const bloom_tally& a, const bloom_tally& b, std::uint64_t ones,
                      KeysOf&& keys_of) noexcept {
  const double keys_of_a = keys_of(a.ones);
  const double keys_of_b = keys_of(b.ones);
  const double common = keys_of_a + keys_of_b - keys_of(a.ones + b.ones - ones);
  const bool neither_is_full = is_finite(keys_of_a) && is_finite(keys_of_b);
  if (neither_is_full && ones == a.ones) return a;
  if (neither_is_full && ones == b.ones) return b;
  const bool is_known = a.chance_keys == 0 && b.chance_keys == 0 && is_finite(common);
  const double keys = keys_of(ones);
  double chance_keys = std::numeric_limits<double>::infinity();
  if (is_known) chance_keys = keys - detail::max(0.0, common);
  if (chance_keys < min_chance_keys) chance_keys = 0;
  return {ones, whole_between(0, less_chance(keys, chance_keys), detail::min(a.count, b.count)),
          chance_keys};
}

}  // namespace bloomery::detail
