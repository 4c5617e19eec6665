#pragma once

/// Sizing a binary fuse filter.

#include <bloomery/image.hpp>
#include <bloomery/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomery {

/// What is asked for; zero means "find it". A plan needs two of capacity, rate (or fingerprint
/// bits) and bits; a build has its number of keys from the keys.
struct fuse_spec {
  std::uint64_t capacity = 0;     ///< n, distinct keys, at most 2^42; a build does not need it
  double fpr = 0;                 ///< eps, in [2^-32, 1)
  std::uint64_t bits = 0;         ///< at most; in a build a promise that is checked
  unsigned arity = 0;             ///< 3 or 4 fingerprints a query; {} chooses, see plan_fuse
  unsigned fingerprint_bits = 0;  ///< w, 1 to 32; {} is the fewest for the rate
  std::uint64_t seed = 0;         ///< of the hash function
  unsigned threads = 1;           ///< that build, 0 for one a core; the result is the same
};

/// Everything that fixes where a fuse filter's fingerprints are. The number of keys is the filter's
/// count, since it is known exactly.
struct fuse_params {
  unsigned arity = 3;
  unsigned fingerprint_bits = 8;
  unsigned segment_log2 = 2;   ///< a segment has 2^segment_log2 fingerprints
  std::uint32_t shards = 0;    ///< 0 for the filter without keys
  std::uint64_t segments = 0;  ///< of all shards
  std::uint64_t seed = 0;

  /// Fingerprints, m.
  std::uint64_t slots() const noexcept { return segments << segment_log2; }
  /// Bytes of the shards' directory, which precede the fingerprints.
  std::uint64_t directory_bytes() const noexcept {
    return (std::uint64_t{shards} * 16 + 63) / 64 * 64;  // inline: every query needs it
  }
  /// Bytes of directory and fingerprints.
  std::uint64_t payload_bytes() const noexcept;
  /// Whether there can be a filter of these, of so many keys.
  bool possible(std::uint64_t count) const noexcept;

  /// The parameter block of a file (docs/format.md, "fuse").
  std::vector<std::byte> encode() const;
  /// Reads it; a value out of range is corrupt or unsupported.
  static result<fuse_params> decode(const filter_header& header, std::span<const std::byte> block);
};

/// A plan: what the filter of `capacity` distinct keys will be. Its size is exact up to 2^20 keys
/// but for the chance of one or two in ten that a shard needs a second try with a little more room,
/// and within 0.5% beyond.
struct fuse_plan {
  fuse_params params;
  std::uint64_t capacity = 0;
  double fpr = 0;
};

inline constexpr std::uint64_t max_fuse_keys = std::uint64_t{1} << 42;
inline constexpr unsigned max_fingerprint_bits = 32;

/// Finds what `spec` leaves open. The rate of w bits is 2^-w (and n / 2^64 for equal hashes), so w
/// is ceil(log2(1/eps)). Three places are the default: a query is faster by a quarter; where `bits`
/// are given memory is what counts, and four places (5% smaller) are taken if they give a lower
/// rate or room for more keys. Fails with invalid_argument, saying which value is out of range,
/// missing or contradicts the others. O(log n).
result<fuse_plan> plan_fuse(const fuse_spec& spec);

/// The expected rate of a filter of n keys and w bits.
double fuse_fpr(double n, unsigned fingerprint_bits) noexcept;

namespace detail {

/// The part of a plan that a build needs before it knows its keys: arity and fingerprint bits.
result<fuse_params> fuse_shape_for(const fuse_spec& spec);

/// How many shards n distinct keys are split into, and the segments' size in a shard of n.
std::uint32_t fuse_shards_for(std::uint64_t n) noexcept;
unsigned fuse_segment_log2(std::uint64_t n, unsigned arity) noexcept;

/// Segments of a shard of n keys with which four in five sets of hashes can be laid out at the
/// first try. Integers only, so that every machine builds the same filter.
std::uint64_t fuse_segments_for(std::uint64_t n, unsigned arity, unsigned segment_log2) noexcept;

}  // namespace detail
}  // namespace bloomery
