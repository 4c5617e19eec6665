// Batches over a whole filter: which are fetched ahead, which are partitioned, and by how many
// threads.

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <bloomery/detail/block_kernels.hpp>
#include <bloomery/detail/block_layout.hpp>
#include <bloomery/detail/threads.hpp>
#include <bloomery/storage.hpp>
#include <cmath>
#include <memory>
#include <new>
#include <thread>
#include <vector>

namespace bloomery::detail {
namespace {

// Arrays up to this size are asked without fetching: the second-level cache holds them.
constexpr std::size_t cached_bytes = std::size_t{1} << 20;
// Keys fetched ahead. 64 to 128 lines under way reach the limit of the memory.
constexpr unsigned query_ahead = 96;
constexpr unsigned insert_ahead = 24;

// Hashes that are brought together at a time: as many bytes of them as of the filter, up to 128
// MiB, and 64 MiB beside filters so large that only threads make it worth while.
constexpr std::size_t most_chunk_bytes = std::size_t{1} << 27;
// A region is a power of two of blocks, of about this size: half of a second-level cache.
constexpr std::size_t region_bytes = std::size_t{1} << 20;
constexpr std::size_t most_regions = 1024;
// An array is partitioned from this size on, if there are so many keys a cache line: each line is
// then fetched once for several of them.
constexpr std::size_t partitioned_bytes = std::size_t{1} << 24;
constexpr std::size_t least_keys_a_line = 4;
// Below this a thread's start costs more than its part of the work.
constexpr std::size_t least_keys_a_thread = std::size_t{1} << 15;

/// The kernel, and how far it fetches ahead.
void ask(const block_array& array, std::span<const hash64> hashes, bool* answers) {
  kernels()
      .of(array.layout)
      .may_contain(array, hashes, answers, array.size() <= cached_bytes ? 0 : query_ahead);
}
std::uint64_t put(const block_array& array, std::span<const hash64> hashes) {
  return kernels()
      .of(array.layout)
      .insert(array, hashes, array.size() <= cached_bytes ? 0 : insert_ahead);
}

// Four cache lines: with one, a branch that is taken every eighth time at random costs more than
// the writes.
constexpr std::size_t line_hashes = 32;

/// Hashes on their way to places whose number modulo line_hashes is their index here.
struct alignas(64) line {
  std::array<hash64, line_hashes> hashes;
};

#if defined(__x86_64__)
void write_past_caches(hash64* to, const line& full) noexcept {
  const auto* from = reinterpret_cast<const __m128i*>(full.hashes.data());
  for (std::size_t i = 0; i < line_hashes / 2; ++i) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to) + i, _mm_load_si128(from + i));
  }
}
void finish_writes() noexcept {
  _mm_sfence();
}
#else
void write_past_caches(hash64* to, const line& full) noexcept {
  std::copy(full.hashes.begin(), full.hashes.end(), to);
}
void finish_writes() noexcept {}
#endif

/// Brings the hashes of a chunk together by the region of their block, keeping their order within
/// each region. Thread t handles part t of the chunk and has a slab of its own in each region; then
/// threads take whole regions.
class partition {
 public:
  partition(const block_array& array, unsigned threads)
      : array_(array),
        threads_(threads),
        shift_(shift_for(array)),
        regions_((array.blocks >> shift_) + 1),
        slabs_(regions_ * threads) {}

  /// A region is a power of two of blocks.
  static unsigned shift_for(const block_array& array) noexcept {
    const std::size_t block_bytes = block_bits(array.layout) / 8;
    const std::size_t bytes = std::max(region_bytes, array.size() / most_regions);
    return static_cast<unsigned>(std::bit_width((bytes - 1) / block_bytes));
  }

  /// False when there is no memory for chunks of that size.
  bool allocate(std::size_t keys, bool answers) {
    keys = expect(keys);
    auto hashes = owned_storage::make(keys * sizeof(hash64));
    auto replies = owned_storage::make(answers ? keys : 0);
    if (!hashes || !replies) return false;
    hashes_ = std::move(*hashes);
    answers_ = std::move(*replies);
    return true;
  }

  void gather(std::span<const hash64> from) {
    with_layout(array_.layout, [&](auto layout) {
      using of = decltype(layout);
      expect(from.size());
      std::atomic<bool> fits{true};
      in_threads(threads_, [&](unsigned t) {
        if (!scatter<of>(from, t)) fits = false;
      });
      if (fits) return;
      // Keys that are repeated often, as a rule: count them.
      in_threads(threads_, [&](unsigned t) { count<of>(from, t); });
      lay_out();
      in_threads(threads_, [&](unsigned t) { scatter<of>(from, t); });
    });
  }

  std::uint64_t insert() {
    std::atomic<std::uint64_t> fresh{0};
    over_slabs([&](const slab& one) {
      fresh.fetch_add(kernels().of(array_.layout).insert(array_, hashes_of(one), insert_ahead),
                      std::memory_order_relaxed);
    });
    return fresh;
  }

  /// Asks region by region, then deals the answers out in the order of `from`.
  void ask(std::span<const hash64> from, bool* to) {
    bool* const replies = reinterpret_cast<bool*>(answers_.writable_bytes().data());
    over_slabs([&](const slab& one) {
      kernels()
          .of(array_.layout)
          .may_contain(array_, hashes_of(one), replies + one.begin, query_ahead);
    });
    with_layout(array_.layout, [&](auto layout) {
      in_threads(threads_, [&](unsigned t) { deal<decltype(layout)>(from, t, replies, to); });
    });
  }

 private:
  // Hashes [begin, end) of the buffer, of room for [begin, limit); all but end multiples of a line.
  struct slab {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t limit = 0;
  };

  template <class Layout>
  std::size_t region_of(hash64 h) const noexcept {
    return Layout::block_of(h, array_.blocks) >> shift_;
  }

  slab& slab_of(std::size_t region, unsigned t) noexcept { return slabs_[region * threads_ + t]; }

  std::span<const hash64> part_of(std::span<const hash64> from, unsigned t) const noexcept {
    const std::size_t first = from.size() * t / threads_;
    return from.subspan(first, from.size() * (t + 1) / threads_ - first);
  }

  /// Gives each slab the room of what it has been given as its limit.
  std::size_t lay_out() {
    std::size_t begin = 0;
    for (slab& one : slabs_) {
      const std::size_t room = round_up(one.limit + 1, line_hashes);
      one = {begin, begin, begin + room};
      begin += room;
    }
    return begin;
  }

  /// Room for what distinct keys need, but for a chance of 10^-9 a slab (six standard deviations).
  std::size_t expect(std::size_t keys) {
    const double share = static_cast<double>(std::uint64_t{1} << shift_) /
                         static_cast<double>(array_.blocks) / threads_;
    const double mean = static_cast<double>(keys) * std::min(share, 1.0) + 1;
    for (slab& one : slabs_) one.limit = static_cast<std::size_t>(mean + 6 * std::sqrt(mean)) + 32;
    return lay_out();
  }

  template <class Layout>
  void count(std::span<const hash64> from, unsigned t) {
    std::vector<std::size_t> counts(regions_);
    for (const hash64 h : part_of(from, t)) ++counts[region_of<Layout>(h)];
    for (std::size_t r = 0; r < regions_; ++r) slab_of(r, t).limit = counts[r];
  }

  // A store to a line that is not in the cache waits for it, and stores retire in order, so that
  // hundreds of streams at once run at the memory's latency. Hashes are therefore collected in the
  // nearer caches and written past all of them (Balkesen et al., "Main-Memory Hash Joins on
  // Multi-Core CPUs", 2013, section V).
  template <class Layout>
  bool scatter(std::span<const hash64> from, unsigned t) {
    auto* const to = reinterpret_cast<hash64*>(hashes_.writable_bytes().data());
    std::vector<std::size_t> ends(regions_);
    for (std::size_t r = 0; r < regions_; ++r) ends[r] = slab_of(r, t).begin;
    std::vector<line> lines(regions_);
    for (const hash64 h : part_of(from, t)) {
      const std::size_t r = region_of<Layout>(h);
      const std::size_t at = ends[r]++;
      lines[r].hashes[at % line_hashes] = h;
      if (at % line_hashes == line_hashes - 1) {
        write_past_caches(to + (at + 1 - line_hashes), lines[r]);
        if (at + 1 == slab_of(r, t).limit) return false;
      }
    }
    for (std::size_t r = 0; r < regions_; ++r) {
      const auto rest = static_cast<std::ptrdiff_t>(ends[r] % line_hashes);
      std::copy_n(lines[r].hashes.begin(), rest, to + ends[r] - rest);
      slab_of(r, t).end = ends[r];
    }
    finish_writes();
    return true;
  }

  template <class Layout>
  void deal(std::span<const hash64> from, unsigned t, const bool* replies, bool* to) {
    std::vector<std::size_t> at(regions_);
    for (std::size_t r = 0; r < regions_; ++r) at[r] = slab_of(r, t).begin;
    const auto mine = part_of(from, t);
    to += mine.data() - from.data();
    for (const hash64 h : mine) *to++ = replies[at[region_of<Layout>(h)]++];
  }

  std::span<const hash64> hashes_of(const slab& one) const noexcept {
    return {reinterpret_cast<const hash64*>(hashes_.bytes().data()) + one.begin,
            one.end - one.begin};
  }

  template <class Work>
  void over_slabs(Work&& work) {
    std::atomic<std::size_t> next{0};
    in_threads(threads_, [&](unsigned) {
      for (std::size_t r = next++; r < regions_; r = next++) {
        for (unsigned t = 0; t < threads_; ++t) work(slab_of(r, t));
      }
    });
  }

  const block_array array_;
  const unsigned threads_;
  const unsigned shift_;
  const std::size_t regions_;
  std::vector<slab> slabs_;
  owned_storage hashes_;
  owned_storage answers_;
};

std::size_t chunk_for(const block_array& array) noexcept {
  const std::size_t bytes = array.size() > 4 * most_chunk_bytes
                                ? most_chunk_bytes / 2
                                : std::clamp(array.size(), partitioned_bytes, most_chunk_bytes);
  return bytes / sizeof(hash64);
}

bool worth_partitioning(const block_array& array, std::size_t n) noexcept {
  return array.size() >= partitioned_bytes &&
         std::min(n, chunk_for(array)) >= array.size() / 64 * least_keys_a_line;
}

unsigned useful_threads(std::size_t n, unsigned threads) noexcept {
  return static_cast<unsigned>(
      std::clamp<std::size_t>(n / least_keys_a_thread, 1, std::max(1U, threads)));
}

/// Calls `use(partition, hashes)` for chunk after chunk, or is false when there is no memory.
template <class Use>
bool in_chunks(const block_array& array, std::span<const hash64> hashes, unsigned threads,
               bool answers, Use&& use) {
  try {
    partition work(array, threads);
    const std::size_t chunk = std::min(chunk_for(array), hashes.size());
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

}  // namespace

unsigned threads_for(unsigned wanted) noexcept {
  return wanted != 0 ? wanted : std::max(1U, std::thread::hardware_concurrency());
}

void blocks_may_contain(const block_array& array, std::span<const hash64> hashes, bool* answers,
                        unsigned threads) noexcept {
  threads = useful_threads(hashes.size(), threads);
  if (worth_partitioning(array, hashes.size()) &&
      in_chunks(array, hashes, threads, true,
                [&](partition& work, auto now, std::size_t at) { work.ask(now, answers + at); })) {
    return;
  }
  in_threads(threads, [&](unsigned t) {
    const std::size_t first = hashes.size() * t / threads;
    const std::size_t last = hashes.size() * (t + 1) / threads;
    ask(array, hashes.subspan(first, last - first), answers + first);
  });
}

std::uint64_t blocks_insert(const block_array& array, std::span<const hash64> hashes,
                            unsigned threads) noexcept {
  threads = useful_threads(hashes.size(), threads);
  std::uint64_t fresh = 0;
  if ((threads > 1 || worth_partitioning(array, hashes.size())) &&
      in_chunks(array, hashes, threads, false,
                [&](partition& work, auto, std::size_t) { fresh += work.insert(); })) {
    return fresh;
  }
  return fresh + put(array, hashes);
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
      if (array.layout == block_layout::free_512) pass = std::pow(ones / 512.0, array.hashes);
    }
    census.pass += pass;
    census.ones += ones;
  }
  return census;
}

}  // namespace bloomery::detail
