#pragma once

/// The plan of a cuckoo filter: its shape and size for a capacity, a rate and memory.

#include <bloomset/image.hpp>
#include <bloomset/plan/limits.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomset {

/// A request. The planner finds the values that are zero. It needs any two of capacity, fpr and
/// bits, or fingerprint_bits with one of capacity and bits.
struct cuckoo_spec {
  std::uint64_t capacity = 0;     ///< n, distinct keys, at most 2^57
  double fpr = 0;                 ///< eps at capacity, in (0, 1)
  std::uint64_t bits = 0;         ///< at most, of the payload; 576 to 2^62
  unsigned slots = 0;             ///< b, per bucket: 2, 4 (default) or 8
  unsigned fingerprint_bits = 0;  ///< f, in [4, 32]
  hash_seed seed = {};            ///< of the hash function, or its secret key
};

/// The parameters that fix the layout of a cuckoo filter, and its planned rate.
struct cuckoo_params {
  static constexpr std::uint16_t kind_version = 2;  ///< of these parameters and the payload
  std::uint64_t capacity = 0;
  double fpr = 0;  ///< formulas::cuckoo_fpr_exact at capacity, at most the rate required
  std::uint64_t buckets = 0;
  unsigned slots = 0;
  unsigned fingerprint_bits = 0;
  hash_seed seed = {};

  /// Whether every value is in its range and the table has at most 2^62 bits.
  bool possible() const noexcept;
  /// Bytes of table and stash. Precondition: possible().
  std::uint64_t payload_bytes() const noexcept;
  /// The load at `capacity` distinct keys. Precondition: possible().
  double load() const noexcept;

  /// The parameter block of a file (docs/reference/format.md, "cuckoo").
  std::vector<std::byte> encode() const;
  /// Reads it. Fails with corrupt or unsupported if a value is out of range.
  static result<cuckoo_params> decode(const filter_header& header,
                                      std::span<const std::byte> block);
};

/// Finds the values of `spec` that are zero, so that the rate at capacity is at most spec.fpr:
///     capacity and fpr     the fewest bits, usually with the shortest fingerprint of that rate
///     bits and fpr         the largest capacity
///     capacity and bits    the lowest rate
///
/// `capacity` distinct keys fit. Planned loads, at most:
///     slots per bucket        2      4      8
///     from 1000 slots         0.84   0.95   0.98
///     below                   0.75   0.90   0.96
/// The planned keys fail to fit with a probability below 2/10,000, the sum of two parts:
///     Load       below 1/10,000 at every measured table size, from one bucket to a million, and
///                far less in large tables
///     Equality   more keys share buckets and fingerprint than their buckets have slots: below
///                1/10,000, with a longer fingerprint if necessary
/// Copies of a key need a slot each.
///
/// Fails with invalid_argument, which names the value that is out of range, missing or
/// contradictory. O(1), some tens of microseconds.
result<cuckoo_params> plan_cuckoo(const cuckoo_spec& spec);

/// Succeeds if two filters have the same places for every key: equal buckets, slots, fingerprint
/// bits and seed. Else fails with incompatible and names the difference.
result<void> same_shape(const cuckoo_params& a, const cuckoo_params& b);

}  // namespace bloomset
