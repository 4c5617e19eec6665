// Batches of queries to a fuse filter.

#include <algorithm>
#include <array>
#include <bloomery/detail/core/prefetch.hpp>
#include <bloomery/detail/fuse/table.hpp>

#include "cpu/partition.hpp"
#include "kinds/fuse/kernels/kernels.hpp"

namespace bloomery::detail {
namespace {

// In a filter of at least this size, batches of at least one key per cache line are partitioned by
// shard first, so that a line is fetched once for all its keys.
constexpr std::size_t min_partitioned_bytes = std::size_t{1} << 24;
constexpr std::size_t min_keys_per_line = 1;
// Keys that are partitioned at once: 128 MiB of hashes.
constexpr std::size_t max_chunk = std::size_t{1} << 24;

/// The slots of a group's fingerprints, and the keys' own fingerprints.
template <unsigned Arity>
struct alignas(64) group_places {
  std::array<std::array<std::uint64_t, fuse_group>, Arity> slots;
  std::array<std::uint32_t, fuse_group> fingerprints;
};

template <unsigned Arity>
void find(const fuse_table& table, const hash64* hashes, std::size_t n,
          group_places<Arity>& places) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    const fuse_shard in = table.shard(mulhi64(hashes[i].value, table.shards));
    const std::uint64_t mixed = fuse_mix(hashes[i], in.seed);
    const std::uint64_t first = std::uint64_t{in.first} << table.segment_log2;
    unsigned j = 0;
    fuse_places<Arity>(mixed, in.starts, table.segment_log2, [&](std::uint64_t place) noexcept {
      places.slots[j++][i] = first + place;
      // Into the second-level cache, to which a core can have more fetches under way.
      prefetch_line<0, 2>(table.address(first + place));
    });
    places.fingerprints[i] = fuse_fingerprint(mixed, table.fingerprint_bits);
  }
}

template <unsigned Arity, class Word>
void compare(const fuse_table& table, const group_places<Arity>& places, std::size_t n,
             bool* answers) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t sum = places.fingerprints[i];
    for (unsigned j = 0; j < Arity; ++j) sum ^= table.fingerprint<Word>(places.slots[j][i]);
    answers[i] = table.is_zero(sum);
  }
}

template <unsigned Arity, class Word>
void query_prefetched(const fuse_table& table, std::span<const hash64> hashes,
                      bool* answers) noexcept {
  std::array<group_places<Arity>, 2> places;
  const std::size_t n = hashes.size();
  const auto size_at = [n](std::size_t at) { return std::min(fuse_group, n - at); };
  unsigned now = 0;
  find<Arity>(table, hashes.data(), size_at(0), places[now]);
  for (std::size_t at = 0; at < n; at += fuse_group, now ^= 1) {
    const std::size_t next = at + fuse_group;
    if (next < n) find<Arity>(table, hashes.data() + next, size_at(next), places[now ^ 1]);
    compare<Arity, Word>(table, places[now], size_at(at), answers + at);
  }
}

template <unsigned Arity, class Word>
void query_cached(const fuse_table& table, std::span<const hash64> hashes, bool* answers) noexcept {
  const fuse_table copy = table;  // else its members are reloaded after each answer
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    answers[i] = copy.may_contain<Arity, Word>(hashes[i]);
  }
}

template <unsigned Arity>
void query(const fuse_table& table, std::span<const hash64> hashes, bool* answers,
           bool cached) noexcept {
  with_fuse_word(table.fingerprint_bits, [&](auto word) noexcept {
    using word_type = decltype(word);
    (cached ? query_cached<Arity, word_type> : query_prefetched<Arity, word_type>)(table, hashes,
                                                                                   answers);
  });
}

}  // namespace

void fuse_may_contain(const fuse_table& table, std::span<const hash64> hashes,
                      bool* answers) noexcept {
  if (hashes.empty() || fuse_may_contain_by_eights(table, hashes, answers)) return;
  const bool cached = table.size <= fuse_cached_bytes;
  const auto query_part = [&](std::span<const hash64> part, bool* found) {
    if (part.empty()) return;
    table.arity == 3 ? query<3>(table, part, found, cached) : query<4>(table, part, found, cached);
  };
  if (table.size >= min_partitioned_bytes && hashes.size() / min_keys_per_line >= table.size / 64) {
    const auto shard_of = [shards = table.shards](hash64 h) noexcept {
      return static_cast<std::size_t>(mulhi64(h.value, shards));
    };
    const hash_regions regions{shard_of, static_cast<std::size_t>(table.shards),
                               1 / static_cast<double>(table.shards)};
    if (in_chunks(regions, 1, hashes, max_chunk, true, [&](auto& work, auto part, std::size_t at) {
          work.ask(part, answers + at, query_part);
        })) {
      return;
    }
  }
  query_part(hashes, answers);
}

}  // namespace bloomery::detail
