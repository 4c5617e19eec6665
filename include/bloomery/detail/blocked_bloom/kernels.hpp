#pragma once

// Operations of a blocked Bloom filter on many hashes: kernels for one thread, chosen once per
// batch for this CPU, and the batch operations over them (src/kinds/blocked_bloom/).

#include <bloomery/block_layout.hpp>
#include <bloomery/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::detail {

/// The blocks of a filter. `data` is written only by what inserts.
struct block_array {
  std::byte* data = nullptr;
  std::uint64_t blocks = 0;
  block_layout layout{};
  unsigned hashes = 0;

  std::size_t size() const noexcept { return blocks * (block_bits(layout) / 8); }
};

/// The loops over a batch for one layout and one instruction set. Each fetches the blocks of keys
/// up to `ahead` further on; 0 fetches nothing, for arrays in the cache.
struct block_kernels {
  void (*may_contain)(const block_array&, std::span<const hash64>, bool* answers, unsigned ahead);
  /// Inserts in order; returns how many were certainly new.
  std::uint64_t (*insert)(const block_array&, std::span<const hash64>, unsigned ahead);
};

/// The kernels of one instruction set.
struct layout_kernels {
  block_kernels split_512;
  block_kernels free_512;
  block_kernels parquet_256;
};

/// The batch operations of a filter. With more than one thread, or when the batch is large beside
/// an array beyond the cache, hashes are first brought together by region, so that each region is
/// worked on in cache; in the order given within a region, so that the result, also the number of
/// new keys, is the same as one by one. Needs as much memory as the array, 128 MiB at most, and
/// without it goes on one by one.
void blocks_may_contain(const block_array& array, std::span<const hash64> hashes, bool* answers,
                        unsigned threads) noexcept;
std::uint64_t blocks_insert(const block_array& array, std::span<const hash64> hashes,
                            unsigned threads) noexcept;

/// For what is known of an array's bits: the sum over blocks of the chance that a stranger of that
/// block passes, and the number of set bits. O(size).
struct block_census {
  double pass = 0;
  std::uint64_t ones = 0;
};
block_census take_census(const block_array& array) noexcept;

}  // namespace bloomery::detail
