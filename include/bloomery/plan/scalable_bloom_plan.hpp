#pragma once

/// Sizing a scalable Bloom filter: its first member, and each one that it opens when it has grown.

#include <bloomery/image.hpp>
#include <bloomery/plan/bloom_plan.hpp>
#include <bloomery/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomery {

/// What is asked for; zero means "find it". Sufficient: the rate (the first member is for
/// default_initial_capacity keys then), the rate with capacity or bits, or capacity and bits.
struct scalable_bloom_spec {
  std::uint64_t capacity = 0;  ///< n0, keys of the first member, at most fpr * 2^57
  double fpr = 0;              ///< eps of the whole, however far it grows, in (0, 1)
  std::uint64_t bits = 0;      ///< m of the first member, at most 2^62
  double growth = 2;           ///< s, how much larger each member is than the last, in [1, 65536]
  double tightening = 0.5;     ///< r, how much lower its rate is, in [0.01, 0.99]
  std::uint64_t seed = 0;      ///< of the hash function
};

/// Everything that fixes a scalable Bloom filter's layout. It changes when a member is opened, not
/// with a key.
struct scalable_bloom_params {
  std::uint64_t capacity = 0;  ///< n0
  double fpr = 0;              ///< eps, which the compound rate never exceeds
  double growth = 0;
  double tightening = 0;
  std::uint64_t seed = 0;
  std::vector<bloom_params> members;  ///< oldest first; all but the last have taken their capacity

  /// The parameter block of a file (docs/format.md, "scalable_bloom").
  std::vector<std::byte> encode() const;
  /// Reads it; a value out of range is corrupt or unsupported.
  static result<scalable_bloom_params> decode(const filter_header& header,
                                              std::span<const std::byte> block);
};

/// Keys of the first member when neither capacity nor bits is asked for.
inline constexpr std::uint64_t default_initial_capacity = 1024;
/// Members that a filter can have. Only a growth below 1.15 comes near.
inline constexpr std::size_t max_members = 256;
/// Each member's bytes in a payload are padded to a multiple of this, so that every member starts a
/// cache line when the file is mapped.
inline constexpr std::uint64_t member_alignment = 64;

/// Plans the filter with its first member. Fails with invalid_argument, saying which value is out
/// of range, missing or contradicts the others. O(1), some tens of microseconds.
result<scalable_bloom_params> plan_scalable_bloom(const scalable_bloom_spec& spec);

/// Plans the member that follows those in `params`, number i: for ceil(n0 * s^i) keys, at
///
///     eps_i = (63/64) * eps * (1 - r) * r^i + 2 * n_i / 2^64.
///
/// The first term is the paper's series, which adds up to at most 63/64 of eps. It falls below what
/// 64-bit hashes can tell apart: at 1%, r = 0.5 and s = 2 after 2^28 keys, if the first member was
/// for one. So the last 64th of eps is kept for equal hashes, at 0.03 bits per key. The sum of all
/// eps_i then stays within eps up to eps * 2^57 keys in all (1.4e15 at 1%).
///
/// A member has at least the bits of a cache line. Fails with `full` beyond that number of keys, at
/// max_members, and beyond 2^62 bits for the member.
result<bloom_params> plan_next_member(const scalable_bloom_params& params);

/// Keys that the filter can take in all before it is full, were memory without end.
std::uint64_t scalable_bloom_limit(const scalable_bloom_params& params);

}  // namespace bloomery
