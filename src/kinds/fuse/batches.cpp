// Batches over a fuse filter.

#include <algorithm>
#include <array>
#include <bloomery/detail/fuse/table.hpp>

#include "cpu/partition.hpp"
#include "kinds/fuse/kernels/kernels.hpp"

namespace bloomery::detail {
namespace {

constexpr std::size_t group = fuse_group;

// Beside filters from this size on, batches with so many keys a cache line are brought together by
// shard, so that the lines of a shard are fetched once, and many of them in the nearer caches.
constexpr std::size_t partitioned_bytes = std::size_t{1} << 24;
constexpr std::size_t min_keys_a_line = 1;
// As many at a time: 128 MiB of hashes.
constexpr std::size_t max_chunk = std::size_t{1} << 24;

/// Where a group's fingerprints are, and what they have to add up to.
template <unsigned Arity>
struct alignas(64) group_places {
  std::array<std::array<std::uint64_t, group>, Arity> slots;
  std::array<std::uint32_t, group> fingerprints;
};

template <unsigned Arity, class Bits>
void find(const fuse_table& table, const hash64* hashes, std::size_t n,
          group_places<Arity>& places) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    const fuse_shard in = table.shard(mulhi64(hashes[i].value, table.shards));
    const std::uint64_t mixed = fuse_mix(hashes[i], in.seed);
    const std::uint64_t first = std::uint64_t{in.first} << table.segment_log2;
    unsigned j = 0;
    fuse_places<Arity>(mixed, in.starts, table.segment_log2, [&](std::uint64_t place) noexcept {
      places.slots[j++][i] = first + place;
      // Into the second-level cache: a core can have more of those fetches under way.
      __builtin_prefetch(Bits::address(table, first + place), 0, 2);
    });
    places.fingerprints[i] = fuse_fingerprint(mixed, table.fingerprint_bits);
  }
}

template <unsigned Arity, class Bits>
void compare(const fuse_table& table, const group_places<Arity>& places, std::size_t n,
             bool* answers) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t sum = places.fingerprints[i];
    for (unsigned j = 0; j < Arity; ++j) sum ^= Bits::at(table, places.slots[j][i]);
    answers[i] = Bits::is_zero(table, sum);
  }
}

template <unsigned Arity, class Bits>
void ask_fetched(const fuse_table& table, std::span<const hash64> hashes, bool* answers) noexcept {
  std::array<group_places<Arity>, 2> places;
  const std::size_t n = hashes.size();
  const auto size_at = [n](std::size_t at) { return std::min(group, n - at); };
  unsigned now = 0;
  find<Arity, Bits>(table, hashes.data(), size_at(0), places[now]);
  for (std::size_t at = 0; at < n; at += group, now ^= 1) {
    const std::size_t next = at + group;
    if (next < n) find<Arity, Bits>(table, hashes.data() + next, size_at(next), places[now ^ 1]);
    compare<Arity, Bits>(table, places[now], size_at(at), answers + at);
  }
}

template <unsigned Arity, class Bits>
void ask_cached(const fuse_table& table, std::span<const hash64> hashes, bool* answers) noexcept {
  const fuse_table own = table;  // not reloaded after each answer that is written
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    answers[i] = own.may_contain<Arity, Bits>(hashes[i]);
  }
}

template <unsigned Arity, class Bits>
void ask(const fuse_table& table, std::span<const hash64> hashes, bool* answers,
         bool cached) noexcept {
  (cached ? ask_cached<Arity, Bits> : ask_fetched<Arity, Bits>)(table, hashes, answers);
}

template <unsigned Arity>
void ask(const fuse_table& table, std::span<const hash64> hashes, bool* answers,
         bool cached) noexcept {
  with_fuse_bits(table.fingerprint_bits, [&](auto bits) noexcept {
    ask<Arity, decltype(bits)>(table, hashes, answers, cached);
  });
}

}  // namespace

void fuse_may_contain(const fuse_table& table, std::span<const hash64> hashes,
                      bool* answers) noexcept {
  if (hashes.empty()) return;
#if defined(__x86_64__)
  if (table.shards == 1 && chosen_instruction_set() == instruction_set::avx512) {
    fuse_may_contain_avx512(table, hashes, answers);
    return;
  }
#endif
  const bool cached = table.size <= fuse_cached_bytes;
  const auto ask_some = [&](std::span<const hash64> some, bool* replies) {
    if (some.empty()) return;
    table.arity == 3 ? ask<3>(table, some, replies, cached) : ask<4>(table, some, replies, cached);
  };
  if (table.size >= partitioned_bytes && hashes.size() / min_keys_a_line >= table.size / 64) {
    const auto shard_of = [shards = table.shards](hash64 h) noexcept {
      return static_cast<std::size_t>(mulhi64(h.value, shards));
    };
    const hash_regions regions{shard_of, static_cast<std::size_t>(table.shards),
                               1 / static_cast<double>(table.shards)};
    if (in_chunks(regions, 1, hashes, max_chunk, true, [&](auto& work, auto now, std::size_t at) {
          work.ask(now, answers + at, ask_some);
        })) {
      return;
    }
  }
  ask_some(hashes, answers);
}

}  // namespace bloomery::detail
