#pragma once

// Grouping the hashes of a large batch by the region of a filter that they belong to. Each region
// is then processed in the cache, and fetched once for several hashes. Not every kind gains from it
// (docs/maintain/decisions/cpu/partitioned-batches.md).

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <bloomset/detail/core/bits.hpp>
#include <bloomset/detail/core/threads.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/storage.hpp>
#include <cmath>
#include <cstddef>
#include <new>
#include <span>
#include <vector>

namespace bloomset::detail {

// Four cache lines. With one line, a branch would be taken at random every eighth time, and would
// cost more than the writes.
inline constexpr std::size_t line_hashes = 32;

/// A buffer of hashes for consecutive places. The hash for place p is at index p modulo
/// line_hashes.
struct alignas(64) hash_line {
  std::array<hash64, line_hashes> hashes;
};

#if defined(__x86_64__)
inline void write_past_caches(hash64* to, const hash_line& full) noexcept {
  const auto* from = reinterpret_cast<const __m128i*>(full.hashes.data());
  for (std::size_t i = 0; i < line_hashes / 2; ++i) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to) + i, _mm_load_si128(from + i));
  }
}
inline void finish_writes() noexcept {
  _mm_sfence();
}
#else
inline void write_past_caches(hash64* to, const hash_line& full) noexcept {
  std::copy(full.hashes.begin(), full.hashes.end(), to);
}
inline void finish_writes() noexcept {}
#endif

/// The regions of a filter.
template <class RegionOf>
struct hash_regions {
  RegionOf of;  ///< the region of a hash, below `count`
  std::size_t count;
  double largest_share;  ///< the part of distinct hashes that the largest region gets
};
template <class RegionOf>
hash_regions(RegionOf, std::size_t, double) -> hash_regions<RegionOf>;  // clang 16 does not see it

/// Groups the hashes of a chunk by region and keeps their order within each. Thread t handles part
/// t of the chunk and has a slab of its own in each region. Then each thread processes whole
/// regions.
template <class RegionOf>
class hash_partition {
 public:
  hash_partition(const hash_regions<RegionOf>& regions, unsigned threads)
      : regions_(regions), threads_(threads), slabs_(regions.count * threads) {}

  /// Returns false if there is no memory for chunks of that size.
  bool allocate(std::size_t keys, bool answers) {
    keys = expect(keys);
    auto hashes = owned_storage::make(keys * sizeof(hash64));
    auto replies = owned_storage::make(answers ? keys : 0);
    if (!hashes || !replies) return false;
    hashes_ = std::move(*hashes);
    replies_ = std::move(*replies);
    return true;
  }

  void gather(std::span<const hash64> from) {
    expect(from.size());
    std::atomic<bool> fits{true};
    in_threads(threads_, [&](unsigned t) {
      if (!scatter(from, t)) fits = false;
    });
    if (fits) return;
    // Usually some keys are repeated often: the slabs are counted.
    in_threads(threads_, [&](unsigned t) { count(from, t); });
    lay_out();
    in_threads(threads_, [&](unsigned t) { scatter(from, t); });
  }

  /// Calls `work(hashes)` for the hashes of each region. The thread that has the region makes the
  /// calls, one for the part of each thread, in order. `work` may reorder the hashes. With one
  /// thread the regions come in order.
  template <class Work>
  void for_each_region(Work&& work) {
    over_slabs([&](const slab& one) { work(hashes_of(one)); });
  }

  /// Queries region by region with `work(hashes, answers)`, then distributes the answers in the
  /// order of `from`, which was gathered.
  template <class Work>
  void ask(std::span<const hash64> from, bool* to, Work&& work) {
    bool* const replies = reinterpret_cast<bool*>(replies_.writable_bytes().data());
    over_slabs([&](const slab& one) { work(hashes_of(one), replies + one.begin); });
    in_threads(threads_, [&](unsigned t) { deal(from, t, replies, to); });
  }

 private:
  // Hashes [begin, end) of the buffer, with room for [begin, limit). All except end are multiples
  // of a line.
  struct slab {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t limit = 0;
  };

  slab& slab_of(std::size_t region, unsigned t) noexcept { return slabs_[region * threads_ + t]; }

  std::span<const hash64> part_of(std::span<const hash64> from, unsigned t) const noexcept {
    const std::size_t first = from.size() * t / threads_;
    return from.subspan(first, from.size() * (t + 1) / threads_ - first);
  }

  /// Places the slabs one after the other. On entry the limit of a slab is the number of hashes
  /// that it needs room for.
  std::size_t lay_out() {
    std::size_t begin = 0;
    for (slab& one : slabs_) {
      const std::size_t room = round_up(one.limit + 1, line_hashes);
      one = {begin, begin, begin + room};
      begin += room;
    }
    return begin;
  }

  /// Room for distinct keys, which a slab exceeds with a chance of 10^-9 (six standard deviations).
  std::size_t expect(std::size_t keys) {
    const double mean =
        static_cast<double>(keys) * std::min(regions_.largest_share, 1.0) / threads_ + 1;
    for (slab& one : slabs_) one.limit = static_cast<std::size_t>(mean + 6 * std::sqrt(mean)) + 32;
    return lay_out();
  }

  void count(std::span<const hash64> from, unsigned t) {
    std::vector<std::size_t> counts(regions_.count);
    for (const hash64 h : part_of(from, t)) ++counts[regions_.of(h)];
    for (std::size_t r = 0; r < regions_.count; ++r) slab_of(r, t).limit = counts[r];
  }

  // A store to a line that is not in the cache waits for it, and stores retire in order, so
  // hundreds of streams at once run at the memory's latency. Hashes are therefore collected in the
  // nearer caches and written past all of them (Balkesen et al., "Main-Memory Hash Joins on
  // Multi-Core CPUs", 2013, section V).
  bool scatter(std::span<const hash64> from, unsigned t) {
    auto* const to = reinterpret_cast<hash64*>(hashes_.writable_bytes().data());
    std::vector<std::size_t> ends(regions_.count);
    for (std::size_t r = 0; r < regions_.count; ++r) ends[r] = slab_of(r, t).begin;
    std::vector<hash_line> lines(regions_.count);
    for (const hash64 h : part_of(from, t)) {
      const std::size_t r = regions_.of(h);
      const std::size_t at = ends[r]++;
      lines[r].hashes[at % line_hashes] = h;
      if (at % line_hashes == line_hashes - 1) {
        write_past_caches(to + (at + 1 - line_hashes), lines[r]);
        if (at + 1 == slab_of(r, t).limit) return false;
      }
    }
    for (std::size_t r = 0; r < regions_.count; ++r) {
      const auto rest = static_cast<std::ptrdiff_t>(ends[r] % line_hashes);
      std::copy_n(lines[r].hashes.begin(), rest, to + ends[r] - rest);
      slab_of(r, t).end = ends[r];
    }
    finish_writes();
    return true;
  }

  void deal(std::span<const hash64> from, unsigned t, const bool* replies, bool* to) {
    std::vector<std::size_t> at(regions_.count);
    for (std::size_t r = 0; r < regions_.count; ++r) at[r] = slab_of(r, t).begin;
    const auto mine = part_of(from, t);
    to += mine.data() - from.data();
    for (const hash64 h : mine) *to++ = replies[at[regions_.of(h)]++];
  }

  std::span<hash64> hashes_of(const slab& one) noexcept {
    return {reinterpret_cast<hash64*>(hashes_.writable_bytes().data()) + one.begin,
            one.end - one.begin};
  }

  template <class Work>
  void over_slabs(Work&& work) {
    std::atomic<std::size_t> next{0};
    in_threads(threads_, [&](unsigned) {
      for (std::size_t r = next++; r < regions_.count; r = next++) {
        for (unsigned t = 0; t < threads_; ++t) work(slab_of(r, t));
      }
    });
  }

  const hash_regions<RegionOf> regions_;
  const unsigned threads_;
  std::vector<slab> slabs_;
  owned_storage hashes_;
  owned_storage replies_;
};

/// Gathers the hashes chunk by chunk and calls `use(partition, chunk, at)`. Returns false if there
/// is no memory. With `answers`, the partition can ask().
template <class RegionOf, class Use>
bool in_chunks(const hash_regions<RegionOf>& regions, unsigned threads,
               std::span<const hash64> hashes, std::size_t chunk, bool answers, Use&& use) {
  try {
    hash_partition work(regions, threads);
    chunk = std::min(chunk, hashes.size());
    if (!work.allocate(chunk, answers)) return false;
    for (std::size_t at = 0; at < hashes.size(); at += chunk) {
      const auto now = hashes.subspan(at, std::min(chunk, hashes.size() - at));
      work.gather(now);
      use(work, now, at);
    }
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace bloomset::detail
