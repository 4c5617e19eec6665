#pragma once

/// Sizing a counting Bloom filter: the plan of a Bloom filter, with a counter for each bit.

#include <bloomset/image.hpp>
#include <bloomset/plan/bloom_plan.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomset {

/// A request. The planner finds the values that are zero. It needs any two of capacity, fpr and
/// bits, or hashes with capacity or bits.
struct counting_bloom_spec {
  std::uint64_t capacity = 0;  ///< n, distinct keys, at most 2^57
  double fpr = 0;              ///< eps at capacity, in (0, 1)
  std::uint64_t bits = 0;      ///< of all counters together, at most 2^62; a remainder is unused
  unsigned hashes = 0;         ///< k, at most 64
  hash_seed seed = {};         ///< of the hash function, or its secret key
  unsigned counter_bits = 4;   ///< w: 4, 8 or 16
  double confidence = 0;       ///< as in bloom_spec
};

/// The values that determine the layout of a counting Bloom filter, and its capacity and planned
/// rate.
struct counting_bloom_params {
  /// The Bloom filter with a bit for each counter. It has the same places for every key, and the
  /// same rate.
  bloom_params array;
  unsigned counter_bits = 4;

  std::uint64_t counters() const noexcept { return array.bits; }
  /// Bits of all counters together.
  std::uint64_t bits() const noexcept { return array.bits * counter_bits; }
  /// The largest value of a counter: 15, 255 or 65,535.
  unsigned maximum() const noexcept { return (1U << counter_bits) - 1; }

  /// The parameter block of a file (docs/reference/format.md, "counting_bloom").
  std::vector<std::byte> encode() const;
  /// Reads that block. A value out of range is corrupt or unsupported.
  static result<counting_bloom_params> decode(const filter_header& header,
                                              std::span<const std::byte> block);
};

/// Finds the values that `spec` leaves open, as plan_bloom does for an array of bits / counter_bits
/// places. Fails with invalid_argument; the message names the value that is out of range, missing,
/// or contradicts the others. O(1).
result<counting_bloom_params> plan_counting_bloom(const counting_bloom_spec& spec);

/// Fails with corrupt unless the layout exists: at least one counter of 4, 8 or 16 bits, at most
/// 2^62 bits together, and 1 to 64 functions.
result<void> check_layout(const counting_bloom_params& params);

/// Succeeds if two filters have the same counters for every key: equal arrays (see same_shape of
/// bloom_params) and counters of equal width. Otherwise fails with incompatible, and the message
/// names the difference.
result<void> same_shape(const counting_bloom_params& a, const counting_bloom_params& b);

}  // namespace bloomset
