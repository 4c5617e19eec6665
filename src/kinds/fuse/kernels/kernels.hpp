#pragma once

// The AVX-512 loop over a batch of a fuse filter. Other instruction sets use the scalar loops of
// batches.cpp. The answers are the same.

#include <bloomery/detail/fuse/table.hpp>

#include "cpu/dispatch.hpp"

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomery::detail {

// Smaller filters fit into the second-level cache and are queried without prefetching.
inline constexpr std::uint64_t fuse_cached_bytes = std::uint64_t{1} << 20;
// Keys whose fingerprints are prefetched while those of as many earlier keys are read.
inline constexpr std::size_t fuse_group = 64;

#if defined(__x86_64__)
void fuse_may_contain_avx512(const fuse_table& table, std::span<const hash64> hashes,
                             bool* answers) noexcept;
#endif

/// Answers the hashes, or returns false: without AVX-512, and if the filter has several shards.
/// Larger filters are limited by memory; gathering is slower there than single loads (51 ns against
/// 42 ns at 100 M keys). Precondition: hashes is not empty.
inline bool fuse_may_contain_by_eights([[maybe_unused]] const fuse_table& table,
                                       [[maybe_unused]] std::span<const hash64> hashes,
                                       [[maybe_unused]] bool* answers) noexcept {
#if defined(__x86_64__)
  if (table.shards == 1 && chosen_instruction_set() == instruction_set::avx512) {
    fuse_may_contain_avx512(table, hashes, answers);
    return true;
  }
#endif
  return false;
}

}  // namespace bloomery::detail

#pragma GCC visibility pop
