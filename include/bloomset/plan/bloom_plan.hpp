#pragma once

/// Sizing a Bloom filter: the values that the request leaves open.

#include <bloomset/image.hpp>
#include <bloomset/plan/limits.hpp>
#include <bloomset/probe.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomset {

/// A request. The planner finds the values that are zero. It needs any two of capacity, fpr and
/// bits, or hashes with one of capacity and bits. In the second case it finds the size for which
/// this number of functions is the best.
struct bloom_spec {
  std::uint64_t capacity = 0;  ///< n, distinct keys, at most 2^57
  double fpr = 0;              ///< eps at capacity, in (0, 1)
  std::uint64_t bits = 0;      ///< m, at most 2^62
  unsigned hashes = 0;         ///< k, at most 64
  hash_seed seed = {};         ///< of the hash function, or its secret key
  /// The share of filters with this plan whose own rate is at most fpr, in [1/2, 1). 0: only the
  /// mean rate over all such filters is at most fpr.
  double confidence = 0;
  /// From capacity and fpr: up to 0.5% more memory, so that the size has many divisors (fold).
  bool foldable = false;
};

/// The values that determine the layout of a Bloom filter, and its capacity and planned rate.
struct bloom_params {
  std::uint64_t capacity = 0;
  double fpr = 0;  ///< the rate at capacity, by formulas::bloom_fpr; at most the requested one
  std::uint64_t bits = 0;
  unsigned hashes = 0;
  hash_seed seed = {};
  probe_id probe = probe_id::double_hashing;
  /// The number of keys by which an estimate from the set bits is too high. It is 0 except in
  /// intersections, which also have bits that different keys set by chance. Infinite if unknown.
  double chance_keys = 0;

  /// The standard deviation of the logarithm of the rate (formulas::bloom_fpr_scatter).
  double scatter() const;

  /// The parameter block of a file (docs/reference/format.md, "bloom").
  std::vector<std::byte> encode() const;
  /// Reads that block. A value out of range is corrupt or unsupported.
  static result<bloom_params> decode(const filter_header& header, std::span<const std::byte> block);
};

/// Finds the values that `spec` leaves open, so that formulas::bloom_fpr at capacity is at most
/// spec.fpr:
///     capacity and fpr     the fewest bits
///     bits and fpr         the largest capacity
/// Both come with the best number of functions.
///
/// fpr is the mean over all filters of a plan. With `confidence`, that share of them has a rate of
/// at most spec.fpr. Fails with invalid_argument; the message names the value that is out of range,
/// missing, or contradicts the others. O(1), some tens of microseconds.
result<bloom_params> plan_bloom(const bloom_spec& spec);

/// Succeeds if two arrays have the same places for every key: equal bits, functions, seed and rule.
/// Otherwise fails with incompatible, and the message names the difference.
result<void> same_shape(const bloom_params& a, const bloom_params& b);

/// The parameters of the fold of a filter: 1/factor of the bits. The capacity is 1/factor too; or,
/// with fpr, the number of keys that the fold holds at that rate. Fails with invalid_argument if
/// factor does not divide the bits, or if no key fits at fpr.
result<bloom_params> fold_params(const bloom_params& params, std::uint64_t factor, double fpr = 0);

namespace detail {
/// Whether the array was built with the probe rule of that number, and the rule has enough
/// functions and places.
result<void> check_probe(const bloom_params& array, probe_id rule, unsigned max_hashes,
                         std::uint64_t max_places);
}  // namespace detail

}  // namespace bloomset
