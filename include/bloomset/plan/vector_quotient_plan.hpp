#pragma once

/// The plan of a vector quotient filter: its shape and size for a capacity, a rate and memory.

#include <bloomset/image.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomset {

/// A request. The planner finds the values that are zero. It needs any two of capacity, fpr and
/// bits, or remainder_bits with one of capacity and bits.
struct vector_quotient_spec {
  std::uint64_t capacity = 0;   ///< n, distinct keys, at most 2^57
  double fpr = 0;               ///< eps at capacity, in (0, 1)
  std::uint64_t bits = 0;       ///< at most, of blocks and stash; at least 1024
  unsigned slots = 0;           ///< S, per block, in [1, 63]
  unsigned remainder_bits = 0;  ///< r, in [5, 32]
  hash_seed seed = {};          ///< of the hash function, or its secret key
};

/// The parameters that fix the layout of a vector quotient filter, and its planned rate.
struct vector_quotient_params {
  std::uint64_t capacity = 0;
  double fpr = 0;  ///< eps at capacity, at most the one required
  std::uint64_t blocks = 0;
  unsigned slots = 0;                  ///< S
  unsigned buckets = 0;                ///< B, per block
  unsigned remainder_bits = 0;         ///< r
  std::uint64_t overflow_entries = 0;  ///< E, of the overflow table now: a power of two or 0
  hash_seed seed = {};

  /// Whether every value is in its range and S (r + 1) + B <= 512.
  bool possible() const noexcept;
  /// Bytes of blocks and stash. table_bytes(), payload_bytes() and load() have the precondition
  /// possible().
  std::uint64_t table_bytes() const noexcept;
  /// table_bytes() and the bytes of the overflow table.
  std::uint64_t payload_bytes() const noexcept;
  /// The load at `capacity` distinct keys: n / (N S).
  double load() const noexcept;

  /// The parameter block of a file (docs/reference/format.md, "vector_quotient").
  std::vector<std::byte> encode() const;
  /// Reads it. Fails with corrupt or unsupported if a value is out of range.
  static result<vector_quotient_params> decode(const filter_header& header,
                                               std::span<const std::byte> block);
};

/// Finds the values of `spec` that are zero, so that the rate at capacity is at most spec.fpr:
///     capacity and fpr     the fewest blocks
///     bits and fpr         the largest capacity
///     capacity and bits    the lowest rate
/// Rates above 3% need as much memory as 3%.
///
/// `capacity` distinct keys fit, each in any number of copies. The planned load is at most 0.965,
/// and less in filters of few blocks or of few slots per block. The keys fail to fit with a
/// probability below 1/10,000, at every measured size up to 100,000 blocks. One block always holds
/// as many keys as slots.
///
/// Fails with invalid_argument, which names the value that is out of range, missing or
/// contradictory. O(1), some tens of microseconds.
result<vector_quotient_params> plan_vector_quotient(const vector_quotient_spec& spec);

/// Succeeds if two filters have the same places for every key: equal blocks, slots, buckets,
/// remainder bits and seed. Else fails with incompatible and names the difference.
result<void> same_shape(const vector_quotient_params& a, const vector_quotient_params& b);

}  // namespace bloomset
