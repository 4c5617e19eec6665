#pragma once

// What a blocked filter does with many hashes at once: kernels for one thread, picked once a batch
// for this CPU, and the bulk operations over them. Mechanics in src/kernels/.

#include <bloomery/hash.hpp>
#include <bloomery/plan/blocked_bloom_plan.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

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

struct ribbon_kernels;   // bloomery/detail/ribbon/kernels.hpp
struct vq_kernels;       // bloomery/detail/vector_quotient/kernels.hpp
struct segment_kernels;  // bloomery/detail/expandable/segment.hpp

/// The kernels of an instruction set, `scalar`, `avx2` or `avx512`: byte-identical in all they do.
struct kernel_set {
  const char* name;
  block_kernels split_512;
  block_kernels free_512;
  block_kernels parquet_256;
  const ribbon_kernels* ribbon;
  const vq_kernels* quotient;
  const segment_kernels* segments;

  const block_kernels& of(block_layout layout) const noexcept;
};

/// Those that this CPU can run, the plainest first.
std::span<const kernel_set* const> usable_kernels() noexcept;

/// The best of them, or the one that the environment variable BLOOMERY_KERNEL names when it is
/// first asked for; a name that is unknown or that this CPU cannot run is said on stderr and passed
/// over.
const kernel_set& kernels() noexcept;

/// Makes kernels() return that set from now on, for tests and benchmarks. Not thread-safe.
void use_kernels(const kernel_set& set) noexcept;

/// The batch operations of a filter. With more than one thread, or when the batch is large beside
/// an array beyond the cache, hashes are first brought together by region, so that each region is
/// worked on in cache; in the order given within a region, so that the result, also the number of
/// new keys, is the same as one by one. Needs as much memory as the array, 128 MiB at most, and
/// without it goes on one by one.
void blocks_may_contain(const block_array& array, std::span<const hash64> hashes, bool* answers,
                        unsigned threads) noexcept;
std::uint64_t blocks_insert(const block_array& array, std::span<const hash64> hashes,
                            unsigned threads) noexcept;

/// A number of threads: as wanted, or for 0 one a core.
unsigned threads_for(unsigned wanted) noexcept;

/// For what is known of an array's bits: the sum over blocks of the chance that a stranger of that
/// block passes, and the number of set bits. O(size).
struct block_census {
  double pass = 0;
  std::uint64_t ones = 0;
};
block_census take_census(const block_array& array) noexcept;

}  // namespace bloomery::detail
