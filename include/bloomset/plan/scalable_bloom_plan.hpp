#pragma once

/// Sizing a scalable Bloom filter: its first member, and each one that it opens when it grows.

#include <bloomset/image.hpp>
#include <bloomset/plan/bloom_plan.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomset {

/// A request. The planner finds the values that are zero. It needs the rate, or capacity and bits.
/// With the rate alone, the first member is for default_initial_capacity keys.
struct scalable_bloom_spec {
  std::uint64_t capacity = 0;  ///< n0, keys of the first member, at most fpr * 2^57
  double fpr = 0;              ///< eps of the whole filter at any size, in (0, 1)
  std::uint64_t bits = 0;      ///< m of the first member, at most 2^62
  double growth = 2;           ///< s: n_(i+1) = s n_i, in [1, 65536]
  double tightening = 0.5;     ///< r: eps_(i+1) = r eps_i, in [0.01, 0.99]
  hash_seed seed = {};         ///< of the hash function, or its secret key
};

/// The values that fix the layout of a scalable Bloom filter. They change when a member is opened,
/// not with each key.
struct scalable_bloom_params {
  std::uint64_t capacity = 0;  ///< n0
  double fpr = 0;              ///< eps, which the mean rate over seeds never exceeds
  double growth = 0;
  double tightening = 0;
  hash_seed seed = {};
  std::vector<bloom_params> members;  ///< oldest first; all except the last are full

  /// The parameter block of a file (docs/reference/format.md, "scalable_bloom").
  std::vector<std::byte> encode() const;
  /// Reads that block. A value out of range is corrupt or unsupported.
  static result<scalable_bloom_params> decode(const filter_header& header,
                                              std::span<const std::byte> block);
};

/// Keys of the first member if neither capacity nor bits is requested.
inline constexpr std::uint64_t default_initial_capacity = 1024;
/// The largest number of members. Only a growth below 1.15 comes near it.
inline constexpr std::size_t max_members = 256;
/// The bytes of each member in a payload are padded to a multiple of this, so that every member
/// begins at a cache line when the file is mapped.
inline constexpr std::uint64_t member_alignment = 64;

/// Plans the filter with its first member. Fails with invalid_argument; the message names the value
/// that is out of range, missing, or contradicts the others. O(1), some tens of microseconds.
result<scalable_bloom_params> plan_scalable_bloom(const scalable_bloom_spec& spec);

/// Plans the member that follows those in `params`, number i: for n_i = ceil(n0 * s^i) keys, at
///
///     eps_i = (63/64) * eps * (1 - r) * r^i + 2 * n_i / 2^64.
///
/// The first term is the paper's series, which adds up to at most 63/64 of eps. In late members it
/// is below the rate that 64-bit hashes can keep: at 1%, with r = 0.5, s = 2 and n0 = 1, from 2^28
/// keys on. The last 64th of eps is therefore kept for equal hashes, at 0.03 bits per key. The sum
/// of all eps_i stays within eps up to eps * 2^57 keys in all (1.4e15 at 1%).
///
/// A member has at least the bits of a cache line. Fails with `full` beyond that number of keys, at
/// max_members, and beyond 2^62 bits for the member.
result<bloom_params> plan_next_member(const scalable_bloom_params& params);

/// Whether the members have the capacities that the other parameters plan, and bits enough for the
/// rate. Then the next member is not larger than those of a file justify.
bool has_planned_members(const scalable_bloom_params& params) noexcept;

/// The number of keys in all that the filter can hold with unlimited memory.
std::uint64_t scalable_bloom_limit(const scalable_bloom_params& params);

}  // namespace bloomset
