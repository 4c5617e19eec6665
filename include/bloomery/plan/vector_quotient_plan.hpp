#pragma once

/// Sizing a vector quotient filter: from what is known to what is not.

#include <bloomery/image.hpp>
#include <bloomery/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomery {

/// What is asked for; zero means "find it". Sufficient: any two of capacity, fpr, bits; or
/// remainder_bits with capacity or with bits.
struct vector_quotient_spec {
  std::uint64_t capacity = 0;   ///< n, distinct keys, at most 2^57
  double fpr = 0;               ///< eps at capacity, in (0, 1)
  std::uint64_t bits = 0;       ///< of the payload at most, without the side table; at least 1024
  unsigned slots = 0;           ///< S, a block's, in [1, 63]
  unsigned remainder_bits = 0;  ///< r, in [5, 32]
  std::uint64_t seed = 0;       ///< of the hash function
};

/// Everything that fixes a vector quotient filter's layout, and what it promises.
struct vector_quotient_params {
  std::uint64_t capacity = 0;
  double fpr = 0;  ///< the rate at capacity, at most the one asked for
  std::uint64_t blocks = 0;
  unsigned slots = 0;              ///< S
  unsigned buckets = 0;            ///< B, mini-buckets of a block
  unsigned remainder_bits = 0;     ///< r
  std::uint64_t side_entries = 0;  ///< of the side table as it stands: a power of two, or none
  std::uint64_t seed = 0;

  /// Whether such a filter can be: every value in its range, S (r + 1) + B <= 512.
  bool possible() const noexcept;
  /// Bytes of blocks and stash, and of the side table. Precondition for these: possible().
  std::uint64_t table_bytes() const noexcept;
  std::uint64_t payload_bytes() const noexcept;
  /// The share of slots that `capacity` distinct keys take.
  double load() const noexcept;

  /// The parameter block of a file (docs/format.md, "vector_quotient").
  std::vector<std::byte> encode() const;
  /// Reads it; a value out of range is corrupt or unsupported.
  static result<vector_quotient_params> decode(const filter_header& header,
                                               std::span<const std::byte> block);
};

/// Finds what `spec` leaves open, so that the rate at capacity is at most spec.fpr: with a rate the
/// shape of block that takes the fewest of them, with bits and a rate the one that holds the most
/// keys, with capacity and bits that of the lowest rate. Rates above 3% take no less memory than
/// that of 3%.
///
/// `capacity` distinct keys fit, each in any number of copies: at most 96.5% of the slots are
/// planned for, less in filters of a few blocks or of blocks of a few slots. The chance that they
/// do not was below 1/10,000 in every size that was tried, from one block, whose 63 slots or fewer
/// always hold their number, to 100,000.
///
/// Fails with invalid_argument, saying which value is out of range, missing or contradicts the
/// others. O(1), some tens of microseconds.
result<vector_quotient_params> plan_vector_quotient(const vector_quotient_spec& spec);

/// Whether two filters put every key in the same places: equal blocks, slots, buckets, remainders
/// and seed; else incompatible, with what differs.
result<void> same_shape(const vector_quotient_params& a, const vector_quotient_params& b);

}  // namespace bloomery
