// The choice of kernels, and batches over a whole filter: how far ahead they prefetch, and how
// threads divide them.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <bloomset/detail/blocked_bloom/kernels.hpp>
#include <bloomset/detail/blocked_bloom/layout.hpp>
#include <bloomset/detail/core/threads.hpp>
#include <bloomset/plan/numeric.hpp>

#include "core/partition.hpp"
#include "cpu/dispatch.hpp"

namespace bloomset::detail {
namespace {

// With fewer keys, starting a thread costs more than its part of the work.
constexpr std::size_t min_keys_per_thread = std::size_t{1} << 15;
// Keys that a thread queries before it takes the next. A thread that starts late takes fewer.
constexpr std::size_t keys_at_a_time = std::size_t{1} << 13;
// Hashes that threads group at a time, per thread and in all: 8 MiB and 128 MiB. With an eighth per
// thread, starting the threads takes a third of the time.
constexpr std::size_t chunk_per_thread = std::size_t{1} << 20;
constexpr std::size_t max_chunk = std::size_t{1} << 24;
// Several, so that a thread that is done early takes another region.
constexpr std::size_t regions_per_thread = 8;

const block_kernels& kernels_of(block_layout layout) noexcept {
  const auto& kernels = chosen_kernels<layout_kernels>();
  if (layout == block_layout::free_512) return kernels.free_512;
  if (layout == block_layout::parquet_256) return kernels.parquet_256;
  return kernels.split_512;
}

// The functions of single_key_kernels_of before the choice. The first call of either replaces all.
template <block_layout Layout>
bool choose_and_query(const std::byte* data, std::uint64_t blocks, hash64 h,
                      unsigned hashes) noexcept {
  choose_single_key_kernels();
  return kernels_of(Layout).may_contain_one(data, blocks, h, hashes);
}
template <block_layout Layout>
bool choose_and_insert(std::byte* data, std::uint64_t blocks, hash64 h, unsigned hashes) noexcept {
  choose_single_key_kernels();
  return kernels_of(Layout).insert_one(data, blocks, h, hashes);
}

unsigned useful_threads(std::size_t n, unsigned threads) noexcept {
  return static_cast<unsigned>(
      std::clamp<std::size_t>(n / min_keys_per_thread, 1, threads_for(threads)));
}

// The census of a block with a bit of each key in each of eight lanes.
template <class Lane>
block_census census_of(const std::byte* block) noexcept {
  block_census census{.pass = 1};
  for (std::size_t lane = 0; lane < 8; ++lane) {
    const unsigned set = count_ones(load<Lane>(block + lane * sizeof(Lane)));
    census.ones += set;
    census.pass *= set / (8.0 * sizeof(Lane));
  }
  return census;
}

// Each thread inserts into regions of its own. Returns false if there is no memory; some keys may
// then be inserted, and counted.
template <class Layout>
bool insert_by_region(const block_array& array, std::span<const hash64> hashes, unsigned threads,
                      std::atomic<std::uint64_t>& newly_inserted) {
  const std::uint64_t last = array.blocks - 1;
  const auto shift = static_cast<unsigned>(std::bit_width(last / (threads * regions_per_thread)));
  const auto region_of = [blocks = array.blocks, shift](hash64 h) noexcept {
    return static_cast<std::size_t>(Layout::block_of(h, blocks) >> shift);
  };
  const double share =
      static_cast<double>(std::uint64_t{1} << shift) / static_cast<double>(array.blocks);
  const hash_regions regions{region_of, static_cast<std::size_t>(last >> shift) + 1, share};
  return in_chunks(regions, threads, hashes, std::min(threads * chunk_per_thread, max_chunk), false,
                   [&](auto& work, auto, std::size_t) {
                     work.for_each_region([&](std::span<const hash64> some) {
                       newly_inserted.fetch_add(blocks_insert(array, some),
                                                std::memory_order_relaxed);
                     });
                   });
}

}  // namespace

constinit std::array<single_key_kernels, 4> single_key_kernels_of = {{
    {nullptr, nullptr},
    {choose_and_query<block_layout{1}>, choose_and_insert<block_layout{1}>},
    {choose_and_query<block_layout{2}>, choose_and_insert<block_layout{2}>},
    {choose_and_query<block_layout{3}>, choose_and_insert<block_layout{3}>},
}};

void choose_single_key_kernels() noexcept {
  for (std::size_t layout = 1; layout < single_key_kernels_of.size(); ++layout) {
    const block_kernels& chosen = kernels_of(static_cast<block_layout>(layout));
    single_key_kernels_of[layout].may_contain.store(chosen.may_contain_one,
                                                    std::memory_order_relaxed);
    single_key_kernels_of[layout].insert.store(chosen.insert_one, std::memory_order_relaxed);
  }
}

// A core that executes out of order overlaps the loads of a few keys by itself. A batch that
// prefetched all its keys at once would wait for the first with nothing else to do, so half of it
// is prefetched before the first is used. 96 lines reach the memory's limit.
unsigned keys_ahead(const block_array& array, std::size_t n) noexcept {
  if (n <= 8 || array.size() <= second_level_cache) return 0;
  return static_cast<unsigned>(std::clamp<std::size_t>(n / 2, 16, 96));
}

void blocks_may_contain(const block_array& array, std::span<const hash64> hashes,
                        bool* answers) noexcept {
  kernels_of(array.layout).may_contain(array, hashes, answers, keys_ahead(array, hashes.size()));
}

void blocks_may_contain(const block_array& array, std::span<const hash64> hashes, bool* answers,
                        unsigned threads) noexcept {
  std::atomic<std::size_t> next{0};
  in_threads(useful_threads(hashes.size(), threads), [&](unsigned) {
    for (std::size_t i = 0; (i = next.fetch_add(keys_at_a_time)) < hashes.size();) {
      const auto some = hashes.subspan(i, std::min(keys_at_a_time, hashes.size() - i));
      blocks_may_contain(array, some, answers + i);
    }
  });
}

std::uint64_t blocks_insert(const block_array& array, std::span<const hash64> hashes) noexcept {
  return kernels_of(array.layout).insert(array, hashes, keys_ahead(array, hashes.size()));
}

void blocks_insert_distinct(const block_array& array, std::span<const hash64> hashes) noexcept {
  kernels_of(array.layout).insert_distinct(array, hashes, keys_ahead(array, hashes.size()));
}

std::uint64_t blocks_insert(const block_array& array, std::span<const hash64> hashes,
                            unsigned threads) noexcept {
  threads = useful_threads(hashes.size(), threads);
  std::atomic<std::uint64_t> newly_inserted{0};
  // Grouping costs as much as the inserts into a filter that is cached.
  if (threads > 1 && array.size() > 4 * second_level_cache &&
      with_layout(array.layout, [&](auto layout) {
        return insert_by_region<decltype(layout)>(array, hashes, threads, newly_inserted);
      })) {
    return newly_inserted;
  }
  return newly_inserted + blocks_insert(array, hashes);
}

block_census take_census(const block_array& array) noexcept {
  block_census all;
  const std::size_t block_bytes = block_bits(array.layout) / 8;
  for (std::uint64_t block = 0; block < array.blocks; ++block) {
    const std::byte* const at = array.data + block * block_bytes;
    block_census one = array.layout == block_layout::parquet_256 ? census_of<std::uint32_t>(at)
                                                                 : census_of<std::uint64_t>(at);
    if (array.layout == block_layout::free_512) {
      one.pass = numeric::power(static_cast<double>(one.ones) / 512, array.hashes);
    }
    all.pass += one.pass;
    all.ones += one.ones;
  }
  return all;
}

}  // namespace bloomset::detail
