#pragma once

// The loops over a batch of a fuse filter, one for each instruction set that has one of its own;
// the others take the scalar loop. All give the same answers.

#include <bloomery/detail/fuse/table.hpp>

#include "cpu/dispatch.hpp"

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomery::detail {

// Filters up to this size are asked without fetching: the second-level cache holds them.
inline constexpr std::uint64_t fuse_cached_bytes = std::uint64_t{1} << 20;
// Keys whose fingerprints are fetched while those of as many before them are read.
inline constexpr std::size_t fuse_group = 64;

#if defined(__x86_64__)
/// For instruction_set::avx512, and filters of one shard (beyond, memory is the
/// limit, and gathering fingerprints from the second-level cache is slower than loading them one by
/// one: 51 against 42 ns at 100 M keys). At least one hash.
void fuse_may_contain_avx512(const fuse_table& table, std::span<const hash64> hashes,
                             bool* answers) noexcept;
#endif

}  // namespace bloomery::detail

#pragma GCC visibility pop
