#pragma once

/// Sizing a Bloom filter: from what is known to what is not.

#include <bloomery/image.hpp>
#include <bloomery/plan/limits.hpp>
#include <bloomery/probe.hpp>
#include <bloomery/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomery {

/// What is asked for; zero means "find it". Sufficient: any two of capacity, fpr, bits; or hashes
/// with capacity or with bits (then the size for which so many functions are the best).
struct bloom_spec {
  std::uint64_t capacity = 0;  ///< n, distinct keys, at most 2^57
  double fpr = 0;              ///< eps at capacity, in (0, 1)
  std::uint64_t bits = 0;      ///< m, at most 2^62
  unsigned hashes = 0;         ///< k, at most 64
  std::uint64_t seed = 0;      ///< of the hash function
  /// The share of filters whose own rate keeps within fpr, in [1/2, 1); 0: the mean of all does.
  double confidence = 0;
};

/// Everything that fixes a Bloom filter's layout, and what it promises.
struct bloom_params {
  std::uint64_t capacity = 0;
  double fpr = 0;  ///< the rate at capacity, by formulas::bloom_fpr; at most the one asked for
  std::uint64_t bits = 0;
  unsigned hashes = 0;
  std::uint64_t seed = 0;
  probe_id probe = probe_id::double_hashing;
  /// Keys that the bits show beyond those that are in the filter: what chance leaves of an
  /// intersection. Infinite if it is unknown.
  double chance_keys = 0;

  /// How far one filter's rate is from `fpr` (formulas::bloom_fpr_scatter).
  double scatter() const;

  /// The parameter block of a file (docs/format.md, "bloom").
  std::vector<std::byte> encode() const;
  /// Reads it; a value out of range is corrupt or unsupported.
  static result<bloom_params> decode(const filter_header& header, std::span<const std::byte> block);
};

/// Finds what `spec` leaves open, so that formulas::bloom_fpr at capacity is at most spec.fpr: with
/// a rate, the fewest bits; with bits and a rate, the most keys; the number of functions that is
/// best for it. fpr is the mean over all filters of a plan; with `confidence`, that share of them
/// keeps within spec.fpr. Fails with invalid_argument, saying which value is out of range, missing
/// or contradicts the others. O(1), some tens of microseconds.
result<bloom_params> plan_bloom(const bloom_spec& spec);

/// Whether two arrays put every key in the same places: equal bits, functions, seed and rule; else
/// incompatible, with what differs.
result<void> same_shape(const bloom_params& a, const bloom_params& b);

}  // namespace bloomery
