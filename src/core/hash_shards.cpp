#include <bloomset/detail/core/hash_shards.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <vector>

#include <bloomset/detail/core/cardinality.hpp>
#include <bloomset/detail/core/threads.hpp>
#include <bloomset/storage.hpp>

namespace bloomset::detail {
namespace {

constexpr std::uint64_t min_group_hashes = std::uint64_t{1} << 23;  // 64 MiB

// The entries of a source are hashes, or hashes with values.
hash64 hash_of(hash64 h) noexcept {
  return h;
}
hash64 hash_of(const valued_hash& entry) noexcept {
  return entry.hash();
}

template <class Entry>
std::size_t drop_repeated(std::span<Entry> entries) noexcept {
  std::sort(entries.begin(), entries.end());
  return static_cast<std::size_t>(std::unique(entries.begin(), entries.end()) - entries.begin());
}

/// Room for the hashes of one shard: a part of the group's memory or, if that was too small, memory
/// of its own.
template <class Entry>
struct slab {
  Entry* data = nullptr;
  std::size_t size = 0;
  std::size_t room = 0;
  owned_storage own;

  result<void> make_room() {
    size = drop_repeated(std::span(data, size));
    if (size <= room - room / 4) return {};
    auto larger = owned_storage::make(2 * room * sizeof(Entry));
    if (!larger) return fail(std::move(larger.error()));
    auto* const to = reinterpret_cast<Entry*>(larger->writable_bytes().data());
    std::copy_n(data, size, to);
    own = std::move(*larger);
    data = to;
    room *= 2;
    return {};
  }
};

// With fewer hashes, starting a thread costs more than its part of the work.
constexpr std::size_t min_hashes_per_thread = std::size_t{1} << 16;

unsigned useful_threads(std::size_t hashes, unsigned threads) noexcept {
  return static_cast<unsigned>(
      std::clamp<std::size_t>(hashes / min_hashes_per_thread, 1, std::max(threads, 1U)));
}

result<void> first_failure(std::vector<result<void>>& done) {
  for (auto& one : done) {
    if (!one) return std::move(one);
  }
  return {};
}

/// Puts the hashes of the slabs' shards, from `first` on, into the slabs.
template <class Entry>
result<void> scatter(std::span<const Entry> hashes, std::uint64_t shards, std::uint64_t first,
                     std::span<slab<Entry>> slabs) {
  if (slab<Entry>& only = slabs.front(); shards == 1 && hashes.size() <= only.room - only.size) {
    std::copy_n(hashes.data(), hashes.size(), only.data + only.size);
    only.size += hashes.size();
    return {};
  }
  // The hashes of the group are selected without a branch, which would be mispredicted.
  std::array<Entry, 1024> picked;
  while (!hashes.empty()) {
    const auto some = hashes.first(std::min(hashes.size(), picked.size()));
    hashes = hashes.subspan(some.size());
    std::size_t n = 0;
    for (const Entry& one : some) {
      picked[n] = one;
      n += shard_of(hash_of(one), shards) - first < slabs.size();
    }
    for (std::size_t i = 0; i < n; ++i) {
      slab<Entry>& into = slabs[shard_of(hash_of(picked[i]), shards) - first];
      if (into.size == into.room) {
        if (auto ok = into.make_room(); !ok) return ok;
      }
      into.data[into.size++] = picked[i];
    }
  }
  return {};
}

/// The same with several threads. Each reads all hashes and fills slabs of its own, so each slab
/// has its hashes in the order of the span.
template <class Entry>
result<void> scatter(std::span<const Entry> hashes, std::uint64_t shards, std::uint64_t first,
                     std::span<slab<Entry>> slabs, unsigned threads) {
  threads = std::min(useful_threads(hashes.size(), threads), static_cast<unsigned>(slabs.size()));
  if (threads == 1) return scatter<Entry>(hashes, shards, first, slabs);
  std::vector<result<void>> done(threads);
  in_threads(threads, [&](unsigned t) {
    const std::size_t begin = slabs.size() * t / threads;
    const std::size_t end = slabs.size() * (t + 1) / threads;
    done[t] = scatter<Entry>(hashes, shards, first + begin, slabs.subspan(begin, end - begin));
  });
  return first_failure(done);
}

/// Passes at least the hashes of the shards [begin, end).
template <class Entry>
result<void> read_shards(const basic_hash_source<Entry>& source, std::uint64_t shards,
                         std::uint64_t begin, std::uint64_t end,
                         const typename basic_hash_source<Entry>::sink& use) {
  if (!source.for_each_in_part) return source.for_each(use);
  for (std::uint64_t part = 0; part < 256; ++part) {
    const hash64 lowest{part << 56};
    const hash64 highest{lowest.value | ~std::uint64_t{0} >> 8};
    if (shard_of(highest, shards) < begin || shard_of(lowest, shards) >= end) continue;
    if (auto ok = source.for_each_in_part(static_cast<unsigned>(part), use); !ok) return ok;
  }
  return {};
}

template <class Entry>
result<std::uint64_t> estimate(const basic_hash_source<Entry>& source, unsigned threads) {
  std::vector<cardinality_estimator> distinct(std::max(threads, 1U));
  const auto done = source.for_each([&](std::span<const Entry> hashes) -> result<void> {
    const unsigned parts = useful_threads(hashes.size(), threads);
    in_threads(parts, [&](unsigned t) {
      const std::size_t begin = hashes.size() * t / parts;
      const std::size_t end = hashes.size() * (t + 1) / parts;
      for (const Entry& one : hashes.subspan(begin, end - begin)) {
        distinct[t].add(hash_of(one));
      }
    });
    return {};
  });
  if (!done) return fail(done.error());
  for (const auto& other : distinct) distinct.front().merge(other);
  // Chosen hashes could make the estimate any number. Twelve standard errors leave it alone for
  // all others, so that repetitions do not change it.
  const double most =
      static_cast<double>(source.size) * (1 + 12 * cardinality_estimator::standard_error);
  return static_cast<std::uint64_t>(
      std::llround(std::clamp(distinct.front().estimate(), 1.0, std::max(most, 1.0))));
}

template <class Entry>
result<void> visit_shards(
    const basic_hash_source<Entry>& source, std::uint64_t shards, std::uint64_t distinct,
    unsigned threads,
    const std::function<result<void>(unsigned, std::uint64_t, std::span<Entry>)>& work) {
  // The hashes of the largest shard, exceeded with a chance of 10^-9 even if the estimate is four
  // of its standard errors too low. The number is exact if there are no repetitions.
  const double max_distinct =
      static_cast<double>(distinct) * (1 + 4 * cardinality_estimator::standard_error);
  const double mean =
      std::min(static_cast<double>(source.size), max_distinct) / static_cast<double>(shards);
  const auto room = shards == 1 ? static_cast<std::size_t>(mean) + 64
                                : static_cast<std::size_t>(mean + 6 * std::sqrt(mean)) + 64;
  const std::uint64_t at_once =
      source.for_each_in_part
          ? min_group_hashes
          : std::max(min_group_hashes, std::min(distinct, source.size) / 3 + min_group_hashes / 8);
  const std::uint64_t group = std::clamp<std::uint64_t>(at_once / room, 1, shards);
  auto memory = owned_storage::make(group * room * sizeof(Entry));
  if (!memory) return fail(std::move(memory.error()));
  auto* const hashes = reinterpret_cast<Entry*>(memory->writable_bytes().data());
  for (std::uint64_t first = 0; first < shards; first += group) {
    std::vector<slab<Entry>> slabs(std::min(group, shards - first));
    for (std::size_t i = 0; i < slabs.size(); ++i) {
      slabs[i].data = hashes + i * room;
      slabs[i].room = room;
    }
    const typename basic_hash_source<Entry>::sink keep = [&](std::span<const Entry> some) {
      return scatter<Entry>(some, shards, first, std::span(slabs), threads);
    };
    if (auto ok = read_shards(source, shards, first, first + slabs.size(), keep); !ok) return ok;
    const auto workers = static_cast<unsigned>(std::min<std::size_t>(threads, slabs.size()));
    std::vector<result<void>> done(workers);
    std::atomic<std::size_t> next{0};
    in_threads(workers, [&](unsigned t) {
      for (std::size_t i = next++; i < slabs.size(); i = next++) {
        const bool is_caller = t + 1 == workers;  // of in_threads
        if (is_caller && source.check_cancelled) done[t] = source.check_cancelled();
        if (done[t]) done[t] = work(t, first + i, {slabs[i].data, slabs[i].size});
        if (!done[t]) next = slabs.size();
      }
    });
    if (auto ok = first_failure(done); !ok) return ok;
  }
  return {};
}

}  // namespace

std::size_t drop_repetitions(std::span<hash64> hashes) noexcept {
  return drop_repeated(hashes);
}

result<std::uint64_t> estimate_distinct(const hash_source& source, unsigned threads) {
  return estimate(source, threads);
}
result<std::uint64_t> estimate_distinct(const valued_hash_source& source, unsigned threads) {
  return estimate(source, threads);
}

result<void> for_each_shard(
    const hash_source& source, std::uint64_t shards, std::uint64_t distinct, unsigned threads,
    const std::function<result<void>(unsigned, std::uint64_t, std::span<hash64>)>& work) {
  return visit_shards(source, shards, distinct, threads, work);
}
result<void> for_each_shard(
    const valued_hash_source& source, std::uint64_t shards, std::uint64_t distinct,
    unsigned threads,
    const std::function<result<void>(unsigned, std::uint64_t, std::span<valued_hash>)>& work) {
  return visit_shards(source, shards, distinct, threads, work);
}

}  // namespace bloomset::detail
