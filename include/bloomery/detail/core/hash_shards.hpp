#pragma once

// The hashes of a source brought together by their upper bits, a group of shards at a time, so that
// what is built of each shard needs neither all hashes at once nor more than bounded memory.

#include <bloomery/concepts.hpp>
#include <bloomery/hash.hpp>
#include <bloomery/result.hpp>
#include <cstdint>
#include <functional>
#include <span>

namespace bloomery::detail {

/// The shard of a hash.
constexpr std::uint64_t shard_of(hash64 h, std::uint64_t shards) noexcept {
  return mulhi64(h.value, shards);
}

/// About how many distinct hashes there are (standard error 0.41%): the same for the same set in
/// any order and with any repetitions. One pass, 64 KiB for each thread.
result<std::uint64_t> estimate_distinct(const hash_source& source, unsigned threads);

/// Calls `use(first, shards)` for group after group of shards: shards[i] has the hashes of shard
/// first + i, in the source's order, or sorted and without repetitions if there were many. They may
/// be changed; they are gone after the call. `distinct` is an estimate. The groups, the shards and
/// their order are the same for any number of threads, and `use` is called by this one.
///
/// One pass over the source for each group. A group's hashes take at most 64 MiB or 2.7 bytes a
/// distinct key, whichever is more, where hashes are uniform; where they are not, a shard takes up
/// to 32 bytes for each of its distinct hashes. Fails with out_of_memory and with what `use` or the
/// source fail with.
result<void> for_each_shard_group(
    const hash_source& source, std::uint64_t shards, std::uint64_t distinct, unsigned threads,
    const std::function<result<void>(std::uint64_t first, std::span<const std::span<hash64>>)>&
        use);

/// Sorts hashes and drops repetitions; returns how many are left, at the beginning.
std::size_t drop_repetitions(std::span<hash64> hashes) noexcept;

}  // namespace bloomery::detail
