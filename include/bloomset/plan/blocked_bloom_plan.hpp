#pragma once

/// Sizing a blocked Bloom filter. The rate accounts exactly for the unequal load of blocks.

#include <bloomset/detail/blocked_bloom/block_layout.hpp>
#include <bloomset/image.hpp>
#include <bloomset/plan/limits.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomset {

/// A request. The planner finds the values that are zero. It needs two of capacity, fpr and bits.
struct blocked_bloom_spec {
  std::uint64_t capacity = 0;  ///< n, distinct keys, at most 2^57
  double fpr = 0;              ///< eps at capacity, in [1e-9, 1)
  std::uint64_t bits = 0;      ///< at most 2^62; rounded down to whole blocks, at least one
  unsigned hashes = 0;         ///< k: at most 24 in the free layout, 8 in the others
  hash_seed seed = {};         ///< of the hash function, or its secret key
  block_layout layout{};       ///< {}: split_512 at rates of 0.05% to 2%, else free
  /// The share of filters with this plan whose own rate is at most fpr, in [1/2, 1). 0: only the
  /// mean rate over all such filters is at most fpr.
  double confidence = 0;
  /// From capacity and fpr: a size with many divisors (fold), up to 0.5% larger. Below 200 kB: up
  /// to 1 kB larger, but at most an eighth.
  bool foldable = false;
};

/// The values that determine the bits of a blocked filter, and its capacity and planned rate.
struct blocked_bloom_params {
  std::uint64_t capacity = 0;
  double fpr = 0;            ///< the mean rate at capacity; at most the requested one
  std::uint64_t blocks = 0;  ///< at least 1; in parquet_256 at most 2^31
  unsigned hashes = 0;
  hash_seed seed = {};
  block_layout layout = block_layout::split_512;
  /// The number of keys by which an estimate from the set bits is too high. It is 0 except in
  /// intersections, which also have bits that different keys set by chance. Infinite if unknown.
  double chance_keys = 0;

  std::uint64_t bits() const noexcept { return blocks * block_bits(layout); }
  /// Whether a filter with these blocks and functions exists in the layout.
  bool possible() const noexcept;

  /// The standard deviation of the logarithm of the rate (formulas::bloom_fpr_scatter). It is
  /// largest for small filters and low rates, where a few blocks with many keys give most of the
  /// rate.
  double scatter() const;

  /// The parameter block of a file (docs/reference/format.md, "blocked_bloom").
  std::vector<std::byte> encode() const;
  /// Reads that block. A value out of range is corrupt or unsupported.
  static result<blocked_bloom_params> decode(const filter_header& header,
                                             std::span<const std::byte> block);
};

/// The lowest rate that can be planned.
inline constexpr double min_blocked_fpr = 1e-9;

/// Finds the values that `spec` leaves open, so that the mean rate of such filters at capacity is
/// at most spec.fpr.
///
/// The plan aims 0.3% below spec.fpr, which costs 0.007 bits per key. One filter of 10^7 keys at 1%
/// then exceeds the requested rate with probability 2e-5. The rates of small filters scatter
/// further (scatter()). With `confidence`, that share of filters has a rate of at most spec.fpr.
///
/// Fails with invalid_argument; the message names the value that is out of range, missing, or
/// contradicts the others. O(1), below a millisecond.
result<blocked_bloom_params> plan_blocked_bloom(const blocked_bloom_spec& spec);

/// The expected rate of n distinct keys in that many blocks, equal hashes included.
double blocked_bloom_fpr(double n, block_layout layout, std::uint64_t blocks, unsigned hashes);

/// Succeeds if two filters have the same places for every key. Otherwise fails with incompatible,
/// and the message names the difference.
result<void> same_shape(const blocked_bloom_params& a, const blocked_bloom_params& b);

/// The parameters of the fold of a filter: 1/factor of the blocks. The capacity is 1/factor too;
/// or, with fpr, the number of keys that the fold holds at that rate. Fails with invalid_argument
/// if factor does not divide the blocks, or if no key fits at fpr.
result<blocked_bloom_params> fold_params(const blocked_bloom_params& params, std::uint64_t factor,
                                         double fpr = 0);

}  // namespace bloomset
