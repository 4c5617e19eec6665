#include <bloomery/detail/cuckoo_layout.hpp>

#include <algorithm>
#include <bitset>

namespace bloomery::detail {
namespace {

// 512 buckets and all their neighbours: at the planner's loads a search visits a handful; the rest
// is for tables at the limit. 8 KiB of stack.
constexpr unsigned most_nodes = 512;
constexpr unsigned no_parent = most_nodes;

// Buckets that the search has been to, by their low bits: exact up to 4096 buckets, where missing
// one could mean missing the only way. In larger tables it skips a bucket now and then for another.
constexpr std::size_t visited_bits = 4096;

struct node {
  std::uint64_t bucket;
  std::uint16_t parent;
  std::uint16_t slot;  // of the parent's bucket, whose fingerprint may move here
};

}  // namespace

bool relocate_and_place(const cuckoo_layout& layout, std::byte* payload,
                        const cuckoo_place& at) noexcept {
  std::array<node, most_nodes> nodes;  // not initialised: only nodes[0, used) are read
  std::bitset<visited_bits> visited;
  unsigned used = 0;
  for (const std::uint64_t root : {at.first, at.second}) {
    if (!visited[root % visited_bits]) nodes[used++] = {root, no_parent, 0};
    visited[root % visited_bits] = true;
  }
  for (unsigned from = 0; from < used; ++from) {
    std::array<std::uint64_t, 8> others;
    for (unsigned slot = 0; slot < layout.slots(); ++slot) {
      const std::uint64_t bucket = nodes[from].bucket;
      others[slot] = layout.other(bucket, layout.get(payload, bucket, slot));
      layout.prefetch(payload, others[slot]);
    }
    for (unsigned slot = 0; slot < layout.slots(); ++slot) {
      auto seen = visited[others[slot] % visited_bits];
      if (seen) continue;
      seen = true;
      const unsigned free = layout.find(payload, others[slot], 0);
      if (free == layout.slots()) {
        if (used < most_nodes) {
          nodes[used++] = {others[slot], static_cast<std::uint16_t>(from),
                           static_cast<std::uint16_t>(slot)};
        }
        continue;
      }
      // The way back to a root: no bucket is on it twice, so each move's source is still what the
      // search saw.
      std::uint64_t to_bucket = others[slot];
      unsigned to_slot = free;
      unsigned from_slot = slot;
      for (unsigned i = from; i != no_parent; i = nodes[i].parent) {
        layout.set(payload, to_bucket, to_slot, layout.get(payload, nodes[i].bucket, from_slot));
        to_bucket = nodes[i].bucket;
        to_slot = from_slot;
        from_slot = nodes[i].slot;
      }
      layout.set(payload, to_bucket, to_slot, at.fingerprint);
      return true;
    }
  }
  return false;
}

std::uint64_t reachable_pairs(const cuckoo_layout& layout, const std::byte* payload,
                              unsigned stashed) noexcept {
  std::uint64_t pairs = 0;
  // A stored fingerprint answers for itself, and for the other bucket unless that one's own copy is
  // counted there. The look into other buckets is delayed, so that their misses overlap.
  std::array<cuckoo_place, 64> waiting;
  unsigned count = 0;
  const auto settle = [&]() noexcept {
    for (unsigned i = 0; i < count; ++i) {
      pairs += !layout.holds(payload, waiting[i].second, waiting[i].fingerprint);
    }
    count = 0;
  };
  for (std::uint64_t bucket = 0; bucket < layout.buckets(); ++bucket) {
    for (unsigned slot = 0; slot < layout.slots(); ++slot) {
      const std::uint32_t fingerprint = layout.get(payload, bucket, slot);
      if (fingerprint == 0 || layout.find(payload, bucket, fingerprint) != slot) continue;
      ++pairs;
      const cuckoo_place at = layout.place(bucket, fingerprint);
      if (at.second == bucket) continue;
      layout.prefetch(payload, at.second);
      waiting[count++] = at;
      if (count == waiting.size()) settle();
    }
  }
  settle();
  for (unsigned i = 0; i < stashed; ++i) {
    const stash_entry entry = layout.stashed(payload, i);
    const cuckoo_place at = layout.place(entry.bucket, entry.fingerprint);
    bool counted = layout.holds(payload, at.first, at.fingerprint) ||
                   layout.holds(payload, at.second, at.fingerprint);
    for (unsigned j = 0; j < i; ++j) {
      const stash_entry earlier = layout.stashed(payload, j);
      counted |= earlier.fingerprint == at.fingerprint &&
                 (earlier.bucket == at.first || earlier.bucket == at.second);
    }
    if (!counted) pairs += at.first == at.second ? 1 : 2;
  }
  return pairs;
}

unsigned check_stash(const cuckoo_layout& layout, std::span<const std::byte> payload) noexcept {
  constexpr unsigned refused = stash_entries + 1;
  const std::uint64_t bits = layout.table_bits();
  for (std::uint64_t at = bits / 8; at < layout.stash_at(); ++at) {
    const unsigned kept = at == bits / 8 ? static_cast<unsigned>(bits % 8) : 0;
    if (std::to_integer<unsigned>(payload[at]) >> kept != 0) return refused;
  }
  unsigned used = 0;
  bool ended = false;
  for (unsigned i = 0; i < stash_entries; ++i) {
    const stash_entry entry = layout.stashed(payload.data(), i);
    if (entry.fingerprint == 0) {
      ended = true;
      if (entry.bucket != 0 || entry.zero != 0) return refused;
    } else if (ended || entry.zero != 0 || entry.fingerprint > layout.values() ||
               entry.bucket >= layout.buckets()) {
      return refused;
    } else {
      ++used;
    }
  }
  return used;
}

}  // namespace bloomery::detail
