#pragma once

/// The plan of a ribbon filter: columns for the rate, slots for the keys.

#include <bloomset/detail/retrieval/level.hpp>
#include <bloomset/image.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomset {

/// A request. The planner finds the values that are zero. It needs two of capacity, fpr and bits. A
/// build counts its keys, and needs fpr, or capacity and bits.
struct ribbon_spec {
  std::uint64_t capacity = 0;  ///< n, distinct keys, at most 2^48; a build does not need it
  double fpr = 0;              ///< eps, in [2^-32, 1)
  std::uint64_t bits = 0;      ///< at most; a build that needs more fails
  hash_seed seed = {};         ///< of the hash function, or its secret key
  unsigned threads = 1;        ///< of a build, 0: one per core; the result is the same
};

/// A level: a system of linear equations for each shard, with windows of 64 slots.
using ribbon_level = detail::retrieval_level;

/// The most levels of a filter.
inline constexpr std::size_t max_ribbon_levels = detail::max_retrieval_levels;
/// The most keys that can be planned.
inline constexpr std::uint64_t max_ribbon_keys = detail::max_retrieval_keys;

/// The parameters that fix the layout of a ribbon filter, and its planned rate. The filter's count,
/// which is exact, is its capacity.
struct ribbon_params {
  double fpr = 0;  ///< the requested rate, which the filter does not exceed
  hash_seed seed = {};
  std::vector<ribbon_level> levels;  ///< empty without keys; all except the last bump

  std::uint64_t payload_bytes() const noexcept;
  /// Whether a filter of `count` keys can have these levels.
  bool possible(std::uint64_t count) const noexcept;

  /// The parameter block of a file (docs/reference/format.md, "ribbon").
  std::vector<std::byte> encode() const;
  /// Reads it. Fails with corrupt or unsupported if a value is out of range.
  static result<ribbon_params> decode(const filter_header& header,
                                      std::span<const std::byte> block);
};

/// A plan made before the keys are known. The size of the built filter is within 1% of it for more
/// than ten thousand keys, and within 3% and 40 bytes for fewer.
struct ribbon_plan {
  std::uint64_t capacity = 0;
  double fpr = 0;
  std::uint64_t bytes = 0;  ///< of the payload
};

/// Finds the values of `spec` that are zero. Fails with invalid_argument, which names the value
/// that is out of range, missing or contradictory. O(log), microseconds.
result<ribbon_plan> plan_ribbon(const ribbon_spec& spec);

namespace detail {

/// The rate of a build, which does not know its number of keys yet.
result<double> ribbon_rate_for(const ribbon_spec& spec);

/// Fails with invalid_argument if n keys cannot have so low a rate.
result<void> check_ribbon_rate(double eps, std::uint64_t n);

/// A level of at most this many keys is the last. It bumps none, because bumping needs more memory.
inline constexpr std::uint64_t last_ribbon_level_keys = 2048;

/// The level for n >= 1 keys with a rate of at most max(eps, 2^-32), without its seed. `attempt`
/// counts the tries of a last level from 0. It begins with as many slots as keys and gets 8 more
/// after every eighth try, until a seed has a solution.
ribbon_level plan_ribbon_level(std::uint64_t n, double eps, unsigned attempt = 0) noexcept;

}  // namespace detail
}  // namespace bloomset
