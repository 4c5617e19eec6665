#pragma once

// Splits the hashes of a source into shards by their upper bits, one group of shards at a time. A
// build then never needs all hashes at once, and its memory is bounded.

#include <bloomset/detail/core/valued_hash.hpp>
#include <bloomset/hash_source.hpp>
#include <bloomset/result.hpp>
#include <cstdint>
#include <functional>
#include <span>

namespace bloomset::detail {

/// The shard of a hash.
constexpr std::uint64_t shard_of(hash64 h, std::uint64_t shards) noexcept {
  return mulhi64(h.value, shards);
}

/// An estimate of the number of distinct hashes (standard error 0.41%), at least 1. It is the same
/// for the same set, in any order and with any repetitions. For chosen hashes it is at most 1.05
/// times the source's size. One pass; 64 KiB per thread.
result<std::uint64_t> estimate_distinct(const hash_source& source, unsigned threads);
result<std::uint64_t> estimate_distinct(const valued_hash_source& source, unsigned threads);

/// Calls `work(thread, shard, hashes)` for every shard, with several threads; `thread` is below
/// `threads`. The hashes are in the source's order; if there were many, they are sorted and without
/// repetitions. `work` may change them. They are invalid after the call. `distinct` is an estimate.
///
/// Time        One pass over the source, or over its parts that are needed, per group of shards.
/// Memory      Uniform hashes: at most 64 MiB or 2.7 bytes per distinct key for a group, whichever
///             is more; 64 MiB if the source has parts. Others: a shard needs up to 32 bytes per
///             distinct hash.
/// Failure     Fails with out_of_memory, and as `work` or the source fail, whose check_cancelled
/// the
///             calling thread calls before each of its shards. No thread begins another shard then.
result<void> for_each_shard(
    const hash_source& source, std::uint64_t shards, std::uint64_t distinct, unsigned threads,
    const std::function<result<void>(unsigned, std::uint64_t, std::span<hash64>)>& work);

/// The same for hashes with values, of 12 bytes instead of 8. A hash with two values is two.
result<void> for_each_shard(
    const valued_hash_source& source, std::uint64_t shards, std::uint64_t distinct,
    unsigned threads,
    const std::function<result<void>(unsigned, std::uint64_t, std::span<valued_hash>)>& work);

/// Sorts hashes and drops repetitions. Returns the number that is left, at the beginning.
std::size_t drop_repetitions(std::span<hash64> hashes) noexcept;

}  // namespace bloomset::detail
