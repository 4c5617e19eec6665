// Batches over a whole filter. Decides which batches are prefetched or partitioned by region, and
// how many threads they use.

#include <algorithm>
#include <atomic>
#include <bit>
#include <bloomery/detail/blocked_bloom/kernels.hpp>
#include <bloomery/detail/blocked_bloom/layout.hpp>
#include <bloomery/detail/core/threads.hpp>
#include <bloomery/plan/numeric.hpp>

#include "cpu/dispatch.hpp"
#include "cpu/partition.hpp"

namespace bloomery::detail {
namespace {

// Arrays up to this size are queried without prefetching, because the second-level cache holds
// them. At 1.25 MB a query takes 1.4 ns without and 1.8 ns with it. At 1.5 MB, with 2 MiB of cache,
// prefetching is faster again.
constexpr std::size_t cached_bytes = std::size_t{5} << 18;
// Keys that are prefetched. 64 to 128 lines in flight reach the memory's limit.
constexpr unsigned query_ahead = 96;
constexpr unsigned insert_ahead = 24;

// The hashes that are grouped at a time have as many bytes as the filter, up to 128 MiB. For
// filters so large that only threads make grouping worthwhile they have 64 MiB.
constexpr std::size_t max_chunk_bytes = std::size_t{1} << 27;
// A region is a power of two of blocks, of about this size: half of a second-level cache.
constexpr std::size_t region_bytes = std::size_t{1} << 20;
constexpr std::size_t max_regions = 1024;
// An array of at least this size is partitioned if a batch has at least this many keys per cache
// line. Each line is then fetched once for several keys.
constexpr std::size_t partitioned_bytes = std::size_t{1} << 24;
constexpr std::size_t min_keys_per_line = 4;
// With fewer keys, starting a thread costs more than its part of the work.
constexpr std::size_t min_keys_per_thread = std::size_t{1} << 15;

const block_kernels& kernels_of(block_layout layout) noexcept {
  const layout_kernels& kernels = chosen_kernels<layout_kernels>();
  switch (layout) {
    case block_layout::free_512:
      return kernels.free_512;
    case block_layout::parquet_256:
      return kernels.parquet_256;
    case block_layout::split_512:
      break;
  }
  return kernels.split_512;
}

// Nothing is prefetched in an array that the cache holds.
unsigned ahead_in(const block_array& array, unsigned ahead) noexcept {
  return array.size() <= cached_bytes ? 0 : ahead;
}

std::size_t chunk_for(const block_array& array) noexcept {
  const std::size_t bytes = array.size() > 4 * max_chunk_bytes
                                ? max_chunk_bytes / 2
                                : std::clamp(array.size(), partitioned_bytes, max_chunk_bytes);
  return bytes / sizeof(hash64);
}

bool worth_partitioning(const block_array& array, std::size_t n) noexcept {
  return array.size() >= partitioned_bytes &&
         std::min(n, chunk_for(array)) >= array.size() / 64 * min_keys_per_line;
}

unsigned useful_threads(std::size_t n, unsigned threads) noexcept {
  return static_cast<unsigned>(
      std::clamp<std::size_t>(n / min_keys_per_thread, 1, std::max(1U, threads)));
}

/// log2 of the number of blocks of a region.
unsigned region_shift(const block_array& array) noexcept {
  const std::size_t block_bytes = block_bits(array.layout) / 8;
  const std::size_t bytes = std::max(region_bytes, array.size() / max_regions);
  return static_cast<unsigned>(std::bit_width((bytes - 1) / block_bytes));
}

/// Calls `use(partition, hashes, at)` for chunk after chunk. Returns false if there is no memory.
template <class Use>
bool by_region(const block_array& array, std::span<const hash64> hashes, unsigned threads,
               bool answers, Use&& use) {
  const unsigned shift = region_shift(array);
  const std::size_t regions = (array.blocks >> shift) + 1;
  const double share =
      static_cast<double>(std::uint64_t{1} << shift) / static_cast<double>(array.blocks);
  return with_layout(array.layout, [&](auto layout) {
    const auto region_of = [blocks = array.blocks, shift](hash64 h) noexcept {
      return static_cast<std::size_t>(decltype(layout)::block_of(h, blocks) >> shift);
    };
    return in_chunks(hash_regions{region_of, regions, share}, threads, hashes, chunk_for(array),
                     answers, use);
  });
}

}  // namespace

void blocks_may_contain(const block_array& array, std::span<const hash64> hashes, bool* answers,
                        unsigned threads) noexcept {
  threads = useful_threads(hashes.size(), threads_for(threads));
  if (worth_partitioning(array, hashes.size()) &&
      by_region(array, hashes, threads, true, [&](auto& work, auto now, std::size_t at) {
        work.ask(now, answers + at, [&](std::span<const hash64> some, bool* replies) {
          kernels_of(array.layout).may_contain(array, some, replies, query_ahead);
        });
      })) {
    return;
  }
  in_threads(threads, [&](unsigned t) {
    const std::size_t first = hashes.size() * t / threads;
    const std::size_t last = hashes.size() * (t + 1) / threads;
    kernels_of(array.layout)
        .may_contain(array, hashes.subspan(first, last - first), answers + first,
                     ahead_in(array, query_ahead));
  });
}

std::uint64_t blocks_insert(const block_array& array, std::span<const hash64> hashes,
                            unsigned threads) noexcept {
  threads = useful_threads(hashes.size(), threads_for(threads));
  std::atomic<std::uint64_t> newly_inserted{0};
  if ((threads > 1 || worth_partitioning(array, hashes.size())) &&
      by_region(array, hashes, threads, false, [&](auto& work, auto, std::size_t) {
        work.for_each_region([&](std::span<const hash64> some) {
          newly_inserted.fetch_add(kernels_of(array.layout).insert(array, some, insert_ahead),
                                   std::memory_order_relaxed);
        });
      })) {
    return newly_inserted;
  }
  return newly_inserted +
         kernels_of(array.layout).insert(array, hashes, ahead_in(array, insert_ahead));
}

block_census take_census(const block_array& array) noexcept {
  block_census census;
  const std::byte* at = array.data;
  const std::size_t block_bytes = block_bits(array.layout) / 8;
  for (std::uint64_t block = 0; block < array.blocks; ++block, at += block_bytes) {
    double pass = 1;
    unsigned ones = 0;
    if (array.layout == block_layout::parquet_256) {
      for (unsigned lane = 0; lane < 8; ++lane) {
        const int set = std::popcount(load<std::uint32_t>(at + std::size_t{4} * lane));
        ones += static_cast<unsigned>(set);
        pass *= set / 32.0;
      }
    } else {
      for (unsigned lane = 0; lane < 8; ++lane) {
        const int set = std::popcount(load<std::uint64_t>(at + std::size_t{8} * lane));
        ones += static_cast<unsigned>(set);
        pass *= set / 64.0;
      }
      if (array.layout == block_layout::free_512) pass = numeric::power(ones / 512.0, array.hashes);
    }
    census.pass += pass;
    census.ones += ones;
  }
  return census;
}

}  // namespace bloomery::detail
