#pragma once

/// Sizing a cuckoo filter: from what is known to what is not.

#include <bloomery/image.hpp>
#include <bloomery/plan/limits.hpp>
#include <bloomery/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomery {

/// What is asked for; zero means "find it". Sufficient: any two of capacity, fpr, bits; or
/// fingerprint_bits with capacity or with bits.
struct cuckoo_spec {
  std::uint64_t capacity = 0;     ///< n, distinct keys, at most 2^57
  double fpr = 0;                 ///< eps at capacity, in (0, 1)
  std::uint64_t bits = 0;         ///< of the payload at most, up to 2^62; at least 576
  unsigned slots = 0;             ///< b, a bucket's: 2, 4 (default) or 8
  unsigned fingerprint_bits = 0;  ///< f, in [4, 32]
  std::uint64_t seed = 0;         ///< of the hash function
};

/// Everything that fixes a cuckoo filter's layout, and what it promises.
struct cuckoo_params {
  std::uint64_t capacity = 0;
  double fpr =
      0;  ///< the rate at capacity, by formulas::cuckoo_fpr_exact; at most the one asked for
  std::uint64_t buckets = 0;
  unsigned slots = 0;
  unsigned fingerprint_bits = 0;
  std::uint64_t seed = 0;

  /// Whether such a table can be: every value in its range, and their product below 2^62 bits.
  bool possible() const noexcept;
  /// Bytes of table and stash. Precondition for this and load(): possible().
  std::uint64_t payload_bytes() const noexcept;
  /// The share of slots that `capacity` distinct keys take.
  double load() const noexcept;

  /// The parameter block of a file (docs/format.md, "cuckoo").
  std::vector<std::byte> encode() const;
  /// Reads it; a value out of range is corrupt or unsupported.
  static result<cuckoo_params> decode(const filter_header& header,
                                      std::span<const std::byte> block);
};

/// Finds what `spec` leaves open, so that the rate at capacity is at most spec.fpr: with a rate the
/// fingerprint that takes the fewest bits, as a rule the shortest of that rate; with bits and a
/// rate the one that holds the most keys; with capacity and bits that of the lowest rate.
///
/// `capacity` distinct keys fit: at most 84, 95 or 98% of the slots are planned for at 2, 4 or 8 a
/// bucket (75, 90 and 96% in tables below 1000 slots). The chance that the keys of a filter find no
/// room at capacity is below 2/10,000: at these loads it was below 1/10,000 in every table size
/// that was tried, from one bucket to a million, and far below in large ones; and the chance that
/// more keys share buckets and fingerprint than their buckets hold is kept below another 1/10,000,
/// if need be by a longer fingerprint. Copies of one key take a slot each.
///
/// Fails with invalid_argument, saying which value is out of range, missing or contradicts the
/// others. O(1), some tens of microseconds.
result<cuckoo_params> plan_cuckoo(const cuckoo_spec& spec);

/// Whether two tables put every key in the same places: equal buckets, slots, fingerprints and
/// seed; else incompatible, with what differs.
result<void> same_shape(const cuckoo_params& a, const cuckoo_params& b);

}  // namespace bloomery
