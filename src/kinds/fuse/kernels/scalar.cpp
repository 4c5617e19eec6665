// Batches of queries to a fuse filter.

#include <algorithm>
#include <array>
#include <bloomset/detail/fuse/table.hpp>

#include "core/partition.hpp"
#include "cpu/dispatch.hpp"

namespace bloomset::detail {
namespace {

// In a filter of at least this size, batches of at least one key per cache line are partitioned by
// shard first, so that a line is fetched once for all its keys.
constexpr std::size_t min_partitioned_bytes = std::size_t{1} << 24;
// Keys that are partitioned at once: 64 MiB of hashes.
constexpr std::size_t max_chunk = std::size_t{1} << 23;
// Smaller filters fit into the second-level cache and are queried without prefetching.
constexpr std::uint64_t cached_bytes = std::uint64_t{1} << 20;
// Vectors find bits below 2^32.
constexpr std::uint64_t max_bytes_of_vectors = std::uint64_t{1} << 29;
// Keys whose fingerprints are prefetched while those of as many earlier keys are read.
constexpr std::size_t group = 64;

/// The slots of a group's fingerprints, and the keys' own fingerprints.
template <unsigned Arity>
struct alignas(64) group_places {
  std::array<std::array<std::uint64_t, Arity>, group> slots;
  std::array<std::uint32_t, group> fingerprints;
};

template <unsigned Arity, class Word>
void find(const fuse_table& table, std::span<const hash64> hashes,
          group_places<Arity>& places) noexcept {
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    auto* to = places.slots[i].data();
    places.fingerprints[i] = table.find<Arity, Word>(hashes[i], [&](std::uint64_t slot) noexcept {
      *to++ = slot;
      const auto* const word = table.address<Word>(slot);
      prefetch_line(word);
      if constexpr (sizeof(Word) > 1) prefetch_line(word + sizeof(Word) - 1);
    });
  }
}

template <unsigned Arity, class Word>
void compare(const fuse_table& table, const group_places<Arity>& places,
             std::span<bool> answers) noexcept {
  for (std::size_t i = 0; i < answers.size(); ++i) {
    std::uint32_t sum = places.fingerprints[i];
    for (const std::uint64_t slot : places.slots[i]) sum ^= table.fingerprint<Word>(slot);
    answers[i] = table.is_zero(sum);
  }
}

template <unsigned Arity, class Word>
void query_prefetched(const fuse_table& table, std::span<const hash64> hashes,
                      std::span<bool> answers) noexcept {
  std::array<group_places<Arity>, 2> places;
  const auto group_at = [](auto all, std::size_t at) noexcept {
    return all.subspan(at, std::min(group, all.size() - at));
  };
  unsigned now = 0;
  find<Arity, Word>(table, group_at(hashes, 0), places[now]);
  for (std::size_t at = 0; at < hashes.size(); at += group, now ^= 1) {
    const std::size_t next = at + group;
    if (next < hashes.size()) {
      find<Arity, Word>(table, group_at(hashes, next), places[now ^ 1]);
    }
    compare<Arity, Word>(table, places[now], group_at(answers, at));
  }
}

template <unsigned Arity, class Word>
void query_cached(const fuse_table& table, std::span<const hash64> hashes,
                  std::span<bool> answers) noexcept {
  const fuse_table copy = table;  // else its members are reloaded after each answer
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    answers[i] = copy.may_contain<Arity, Word>(hashes[i]);
  }
}

void query_part(const fuse_table& table, std::span<const hash64> hashes, bool* answers) noexcept {
  if (hashes.empty()) return;
  with_fuse_shape(table.arity, table.fingerprint_bits, [&]<unsigned Arity, class Word>() {
    (table.size <= cached_bytes
         ? query_cached<Arity, Word>
         : query_prefetched<Arity, Word>)(table, hashes, {answers, hashes.size()});
  });
}

}  // namespace

const fuse_kernels fuse_kernels::scalar{query_part};

void fuse_may_contain(const fuse_table& table, std::span<const hash64> hashes,
                      bool* answers) noexcept {
  // Filters of several shards wait for memory, so vectors gain nothing there.
  if (table.shards == 1 && table.size < max_bytes_of_vectors) {
    return chosen_kernels<fuse_kernels>().may_contain(table, hashes, answers);
  }
  if (table.size >= min_partitioned_bytes && hashes.size() >= table.size / 64) {
    const auto shard_of = [shards = table.shards](hash64 h) noexcept {
      return static_cast<std::size_t>(mulhi64(h.value, shards));
    };
    const hash_regions regions{shard_of, static_cast<std::size_t>(table.shards),
                               1 / static_cast<double>(table.shards)};
    if (in_chunks(regions, 1, hashes, max_chunk, true, [&](auto& work, auto part, std::size_t at) {
          work.ask(part, answers + at, [&](std::span<const hash64> some, bool* found) {
            query_part(table, some, found);
          });
        })) {
      return;
    }
  }
  query_part(table, hashes, answers);
}

}  // namespace bloomset::detail
