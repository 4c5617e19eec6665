#pragma once

/// The plan of a binary fuse filter.

#include <bloomset/image.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomset {

/// A request. The planner finds the values that are zero. It needs two of capacity, fpr (or
/// fingerprint_bits) and bits. A build counts its keys.
struct fuse_spec {
  std::uint64_t capacity = 0;     ///< n, distinct keys, at most 2^42; a build does not need it
  double fpr = 0;                 ///< eps, in [2^-32, 1)
  std::uint64_t bits = 0;         ///< at most; a build that needs more fails
  unsigned arity = 0;             ///< fingerprints per query, 3 or 4; 0: see plan_fuse
  unsigned fingerprint_bits = 0;  ///< w, 1 to 32; 0: the fewest for the rate
  hash_seed seed = {};            ///< of the hash function, or its secret key
  unsigned threads = 1;           ///< of a build, 0: one per core; the result is the same
};

/// The parameters that fix the layout of a fuse filter. The filter's count, which is exact, is its
/// capacity.
struct fuse_params {
  unsigned arity = 3;
  unsigned fingerprint_bits = 8;
  unsigned segment_log2 = 2;   ///< a segment has 2^segment_log2 fingerprints
  std::uint32_t shards = 0;    ///< 0 without keys
  std::uint64_t segments = 0;  ///< of all shards
  hash_seed seed = {};

  /// m, the number of fingerprints.
  std::uint64_t slots() const noexcept { return segments << segment_log2; }
  /// The segments that the first place of a key may be in: the others follow it.
  std::uint64_t starts() const noexcept { return segments - arity + 1; }
  /// Bytes of the directory of shards, before the fingerprints.
  std::uint64_t directory_bytes() const noexcept {
    return (std::uint64_t{shards} * 16 + 63) / 64 * 64;  // inline: every query needs it
  }
  /// Bytes of directory and fingerprints.
  std::uint64_t payload_bytes() const noexcept;
  /// Whether a filter of `count` keys can have these parameters.
  bool possible(std::uint64_t count) const noexcept;

  /// The parameter block of a file (docs/reference/format.md, "fuse").
  std::vector<std::byte> encode() const;
  /// Reads it. Fails with corrupt or unsupported if a value is out of range.
  static result<fuse_params> decode(const filter_header& header, std::span<const std::byte> block);
};

/// The filter of `capacity` distinct keys. Up to 2^20 keys a built filter has exactly the planned
/// size, unless its first four tries fail. The size of larger filters differs by at most 0.5%.
struct fuse_plan {
  fuse_params params;
  std::uint64_t capacity = 0;
  double fpr = 0;
};

/// The most keys that can be planned.
inline constexpr std::uint64_t max_fuse_keys = std::uint64_t{1} << 42;
/// The most bits of a fingerprint, w.
inline constexpr unsigned max_fingerprint_bits = 32;

/// Finds the values of `spec` that are zero: w = ceil(log2(1 / eps)). The default arity is 3,
/// whose queries are a quarter faster. If `bits` is given, arity 4 (5% smaller) is chosen where it
/// gives a lower rate or a larger capacity. Fails with invalid_argument, which names the value that
/// is out of range, missing or contradictory. O(log n).
result<fuse_plan> plan_fuse(const fuse_spec& spec);

/// The expected rate of n keys with w = fingerprint_bits: 2^-w + n / 2^64.
double fuse_fpr(double n, unsigned fingerprint_bits) noexcept;

namespace detail {

/// Arity and fingerprint bits of a build, which does not know its number of keys yet.
result<fuse_params> fuse_shape_for(const fuse_spec& spec);

/// The number of shards of a filter of n distinct keys.
std::uint32_t fuse_shards_for(std::uint64_t n) noexcept;
/// log2 of the fingerprints per segment in a shard of n keys.
unsigned fuse_segment_log2(std::uint64_t n, unsigned arity) noexcept;

/// The number of segments of a shard of n keys. With it, a build succeeds at the first try for four
/// in five sets of hashes. Computed in integers, so that every machine builds the same filter.
std::uint64_t fuse_segments_for(std::uint64_t n, unsigned arity, unsigned segment_log2) noexcept;

}  // namespace detail
}  // namespace bloomset
