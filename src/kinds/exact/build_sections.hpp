#pragma once

// The parts that builds of exact filters with and without partitions have in common.

#include <algorithm>
#include <bloomset/detail/core/hash_shards.hpp>
#include <bloomset/detail/core/source_memory.hpp>
#include <bloomset/detail/core/threads.hpp>
#include <bloomset/detail/retrieval/layout.hpp>
#include <bloomset/detail/retrieval/level.hpp>
#include <bloomset/hash_source.hpp>
#include <bloomset/plan/exact_plan.hpp>
#include <bloomset/storage.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <vector>

#include "kinds/retrieval/build_levels.hpp"
#include "kinds/retrieval/sorted_keys.hpp"
#include "plan/checks.hpp"

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomset::detail {

using hash_list = source_vector<hash64>;

inline constexpr auto by_hash = [](hash64 a, hash64 b) { return a.value < b.value; };

// The hashes that are read before they are filtered.
inline constexpr std::size_t batch_hashes = std::size_t{1} << 18;

/// Sorts hashes, or hashes with values, in place: each thread has a range of hashes.
template <class Entry>
void sort_by_hash(std::span<Entry> entries, unsigned threads) {
  constexpr std::size_t worth_a_thread = std::size_t{1} << 16;
  const auto parts =
      static_cast<unsigned>(std::clamp<std::size_t>(entries.size() / worth_a_thread, 1, threads));
  std::vector<std::span<Entry>> ranges;
  for (unsigned part = 1; part < parts; ++part) {
    const auto above = std::ranges::partition(
        entries, [=](const Entry& entry) { return shard_of({hash_in(entry)}, parts) < part; });
    ranges.push_back(entries.first(entries.size() - above.size()));
    entries = entries.last(above.size());
  }
  ranges.push_back(entries);
  in_threads(parts, [&](unsigned t) { std::sort(ranges[t].begin(), ranges[t].end()); });
}

/// Calls `use` with the hashes of a source in batches.
template <class Entry, class Use>
result<void> for_batches(const basic_hash_source<Entry>& source, Use&& use) {
  source_vector<Entry> batch;
  batch.reserve(batch_hashes);
  const auto use_batch = [&]() -> result<void> {
    if (source.check_cancelled) {
      if (auto ok = source.check_cancelled(); !ok) return ok;
    }
    auto done = use(std::span<const Entry>(batch));
    batch.clear();
    return done;
  };
  // The memory of sources' callers may not be unwound.
  const typename basic_hash_source<Entry>::sink keep =
      [&](std::span<const Entry> some) -> result<void> {
    try {
      while (!some.empty()) {
        const std::size_t now = std::min(some.size(), batch_hashes - batch.size());
        batch.insert(batch.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(now));
        some = some.subspan(now);
        if (batch.size() < batch_hashes) continue;
        if (auto ok = use_batch(); !ok) return ok;
      }
      return {};
    } catch (const std::bad_alloc&) {
      return no_memory(
          "memory ran out while building an exact filter; build it on a machine with more");
    }
  };
  if (auto ok = source.for_each(keep); !ok) return ok;
  return use_batch();
}

/// A section in its own memory.
struct built_section {
  exact_section section;
  owned_storage payload;  // with retrieval_padding
};

/// The bits of a fingerprint that a section has, from `shift` on.
inline std::uint32_t wanted_value(hash64 h, std::uint32_t shift, std::uint32_t columns) noexcept {
  return (fingerprint_of(h.value) >> shift) & column_mask(columns);
}

/// The plan of the guided section. Members are counted, others are not.
class guided_planner final : public level_planner {
 public:
  guided_planner(std::uint64_t members, std::uint64_t others, std::uint32_t columns)
      : members_(members),
        others_per_key_(static_cast<double>(others) / static_cast<double>(members)),
        columns_(columns) {}

  result<std::uint64_t> begin(std::uint64_t, bool) override { return members_; }
  retrieval_level level_for(std::uint64_t n, unsigned attempt) override {
    return plan_guided_level(n, others_per_key_, columns_, attempt);
  }
  void finish_level(const retrieval_level&, const std::byte*) override {}
  result<void> end(std::uint64_t, std::uint64_t) override { return {}; }

 private:
  std::uint64_t members_;
  double others_per_key_;
  std::uint32_t columns_;
};

/// Copies the levels of a section, without their padding. Returns the end of the copy.
inline std::byte* copy_levels(const owned_storage& section, std::byte* to) noexcept {
  const auto bytes = section.bytes();
  if (bytes.empty()) return to;
  std::memcpy(to, bytes.data(), bytes.size() - retrieval_padding);
  return to + (bytes.size() - retrieval_padding);
}

inline failure takes_no_rate() {
  return refuse(
      "an exact filter has the rate and the size that its keys need; leave the rate and the memory "
      "out");
}

/// The failure of a build whose search counted another number of keys than pass.
inline failure search_was_wrong(std::uint64_t passing, std::uint64_t counted) {
  return format_failure(
      errc::corrupt,
      "{} other keys pass the guided section, but the build counted {}; this machine computes "
      "wrongly, or the library has an error: please report it",
      passing, counted);
}

}  // namespace bloomset::detail

#pragma GCC visibility pop
