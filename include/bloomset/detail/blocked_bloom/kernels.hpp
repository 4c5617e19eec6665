#pragma once

// Operations of a blocked Bloom filter on hashes (src/kinds/blocked_bloom/), in kernels for each
// instruction set. The kernels run in one thread; a batch operation chooses them once per batch for
// this CPU, and the first call for a single key chooses them once per process.

#include <array>
#include <atomic>
#include <bloomset/detail/blocked_bloom/block_layout.hpp>
#include <bloomset/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomset::detail {

/// The blocks of a filter. Only functions that insert write to `data`.
struct block_array {
  std::byte* data = nullptr;
  std::uint64_t blocks = 0;
  block_layout layout{};
  unsigned hashes = 0;

  std::size_t size() const noexcept { return blocks * (block_bits(layout) / 8); }
};

/// A query and an insert of one key. The insert returns whether the key was certainly new.
using block_query = bool(const std::byte* data, std::uint64_t blocks, hash64 h,
                         unsigned hashes) noexcept;
using block_insert = bool(std::byte* data, std::uint64_t blocks, hash64 h,
                          unsigned hashes) noexcept;

/// The operations for one layout and one instruction set. Each loop over a batch prefetches the
/// blocks of up to `ahead` later keys. 0 prefetches nothing, for arrays in the cache.
struct block_kernels {
  block_query* may_contain_one;
  block_insert* insert_one;
  void (*may_contain)(const block_array&, std::span<const hash64>, bool* answers,
                      unsigned ahead) noexcept;
  /// Inserts in order. Returns the number of keys that were certainly new.
  std::uint64_t (*insert)(const block_array&, std::span<const hash64>, unsigned ahead) noexcept;
  /// The same without the number: the result means nothing.
  std::uint64_t (*insert_distinct)(const block_array&, std::span<const hash64>,
                                   unsigned ahead) noexcept;
};

/// The kernels of one instruction set.
struct layout_kernels {
  block_kernels split_512;
  block_kernels free_512;
  block_kernels parquet_256;

  [[gnu::visibility("hidden")]] static const layout_kernels scalar, vector128, vector256, vector512;
};

/// The kernels of single keys for this CPU, by the number of the layout. Before the first call they
/// are functions that call choose_single_key_kernels(). Programs whose compiler may use such
/// instructions have the same code inline (native.hpp).
struct single_key_kernels {
  std::atomic<block_query*> may_contain;
  std::atomic<block_insert*> insert;
};
extern std::array<single_key_kernels, 4> single_key_kernels_of;

/// Chooses them for the instruction set that the batches use now.
void choose_single_key_kernels() noexcept;

/// The batch operations of a filter.
void blocks_may_contain(const block_array& array, std::span<const hash64> hashes,
                        bool* answers) noexcept;
std::uint64_t blocks_insert(const block_array& array, std::span<const hash64> hashes) noexcept;
void blocks_insert_distinct(const block_array& array, std::span<const hash64> hashes) noexcept;

/// The same with up to `threads` threads, or one per core if that is 0. To insert, hashes are first
/// grouped by region of the array, so that each thread has regions of its own. The order within a
/// region is that of the batch: the bits and the number of new keys are those of single calls.
/// Grouping needs 8 bytes per key, at most 8 MiB per thread and 128 MiB. Without that memory one
/// thread inserts.
void blocks_may_contain(const block_array& array, std::span<const hash64> hashes, bool* answers,
                        unsigned threads) noexcept;
std::uint64_t blocks_insert(const block_array& array, std::span<const hash64> hashes,
                            unsigned threads) noexcept;

/// How many keys ahead a batch of n keys prefetches in this array
/// (docs/maintain/decisions/cpu/prefetch.md).
unsigned keys_ahead(const block_array& array, std::size_t n) noexcept;

/// A census of the array's bits: `pass` is the sum over all blocks of the chance that a non-member
/// passes in the block, `ones` the number of set bits. O(size).
struct block_census {
  double pass = 0;
  std::uint64_t ones = 0;
};
block_census take_census(const block_array& array) noexcept;

}  // namespace bloomset::detail
