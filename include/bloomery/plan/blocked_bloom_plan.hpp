#pragma once

/// Sizing a blocked Bloom filter, by the exact rate of blocks of unequal load.

#include <bloomery/block_layout.hpp>
#include <bloomery/image.hpp>
#include <bloomery/plan/limits.hpp>
#include <bloomery/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomery {

/// What is asked for; zero means "find it". Sufficient: two of capacity, fpr, bits.
struct blocked_bloom_spec {
  std::uint64_t capacity = 0;  ///< n, distinct keys, at most 2^57
  double fpr = 0;              ///< eps at capacity, in [1e-9, 1)
  std::uint64_t bits = 0;      ///< at most 2^62; rounded down to whole blocks, at least one
  unsigned hashes = 0;         ///< k, at most 24, of the free layout; 8 in the others
  std::uint64_t seed = 0;      ///< of the hash function
  block_layout layout{};       ///< {} chooses: split from 0.05% to 2%, else free
  /// The share of filters whose own rate keeps within fpr, in [1/2, 1); 0: the mean of all does.
  double confidence = 0;
};

/// Everything that fixes a blocked filter's bits, and what it promises.
struct blocked_bloom_params {
  std::uint64_t capacity = 0;
  double fpr = 0;            ///< the expected rate at capacity; at most the one asked for
  std::uint64_t blocks = 0;  ///< any number from 1; for parquet_256 at most 2^31
  unsigned hashes = 0;
  std::uint64_t seed = 0;
  block_layout layout = block_layout::split_512;
  /// Keys that the bits show beyond those that are in the filter: what chance leaves of an
  /// intersection. Infinite if it is unknown.
  double chance_keys = 0;

  std::uint64_t bits() const noexcept { return blocks * block_bits(layout); }
  /// Whether there can be a filter of so many blocks and functions in that layout.
  bool possible() const noexcept;

  /// How far one filter's rate is from `fpr` (formulas::bloom_fpr_scatter). Most where filters are
  /// small and rates low, since few blocks with many keys then have most of the rate.
  double scatter() const;

  /// The parameter block of a file (docs/format.md, "blocked_bloom").
  std::vector<std::byte> encode() const;
  /// Reads it; a value out of range is corrupt or unsupported.
  static result<blocked_bloom_params> decode(const filter_header& header,
                                             std::span<const std::byte> block);
};

inline constexpr double min_blocked_fpr = 1e-9;

/// Finds what `spec` leaves open, so that the mean rate of such filters at capacity is at most
/// spec.fpr. It is planned 0.3% below it, which costs 0.007 bits per key: the rate of one filter of
/// 10^8 keys at 1% is above the mean by more with a chance of 3e-7. Small filters scatter further
/// (scatter()); with `confidence`, that share of filters keeps within spec.fpr. Fails with
/// invalid_argument, saying which value is out of range, missing or contradicts the others. O(1),
/// below a millisecond.
result<blocked_bloom_params> plan_blocked_bloom(const blocked_bloom_spec& spec);

/// The expected rate of n distinct keys in that many blocks, equal hashes included.
double blocked_bloom_fpr(double n, block_layout layout, std::uint64_t blocks, unsigned hashes);

/// Whether two filters put every key in the same places; else incompatible, with what differs.
result<void> same_shape(const blocked_bloom_params& a, const blocked_bloom_params& b);

}  // namespace bloomery
