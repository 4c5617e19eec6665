#include <bloomset/detail/cuckoo/table.hpp>

#include <array>
#include <bitset>

#include "cpu/dispatch.hpp"

namespace bloomset::detail {
namespace {

// The most buckets whose neighbours a search visits, in 8 KiB of stack. At planned loads a search
// visits a few; almost full tables need more.
constexpr unsigned max_nodes = 512;
constexpr unsigned no_parent = max_nodes;

// Visited buckets, by their low bits. This is exact up to 4096 buckets, where there may be only one
// chain. In larger tables a search skips some buckets that it has not visited.
constexpr std::size_t visited_bits = 4096;

struct node {
  std::uint64_t bucket;
  std::uint16_t parent;
  std::uint16_t slot;  // of the parent's bucket; its fingerprint can move here
};

// Inserts a fingerprint whose two buckets are full, after a chain of moves. Returns false, and
// changes nothing, if the search finds none. Each fingerprint is copied to its new slot before its
// old slot is overwritten.
bool insert_by_moves(const cuckoo_layout& layout, std::byte* payload,
                     const cuckoo_place& at) noexcept {
  std::array<node, max_nodes> nodes;  // only [0, used) is initialised
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
      others[slot] = layout.other_bucket(bucket, layout.get(payload, bucket, slot));
      layout.prefetch(payload, others[slot]);
    }
    for (unsigned slot = 0; slot < layout.slots(); ++slot) {
      auto seen = visited[others[slot] % visited_bits];
      if (seen) continue;
      seen = true;
      const unsigned free = layout.find(payload, others[slot], 0);
      if (free == layout.slots()) {
        if (used < max_nodes) {
          nodes[used++] = {others[slot], static_cast<std::uint16_t>(from),
                           static_cast<std::uint16_t>(slot)};
        }
        continue;
      }
      // Back to a root. No bucket is on this chain twice, so each source still has the fingerprint
      // that the search saw.
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

bool is_stashed_at(const cuckoo_layout& layout, const std::byte* payload, unsigned i,
                   const cuckoo_place& at) noexcept {
  const stash_entry entry = layout.stashed(payload, i);
  return entry.fingerprint == at.fingerprint &&
         (entry.bucket == at.first || entry.bucket == at.second);
}

void erase_stashed(const cuckoo_layout& layout, std::byte* payload, unsigned& stashed,
                   unsigned i) noexcept {
  --stashed;
  layout.set_stashed(payload, i, layout.stashed(payload, stashed));
  layout.set_stashed(payload, stashed, {0, 0, 0});
}

void unstash_into(const cuckoo_layout& layout, std::byte* payload, unsigned& stashed,
                  std::uint64_t bucket, unsigned slot) noexcept {
  for (unsigned i = 0; i < stashed; ++i) {
    const stash_entry entry = layout.stashed(payload, i);
    if (entry.bucket != bucket && layout.other_bucket(entry.bucket, entry.fingerprint) != bucket)
      continue;
    layout.set(payload, bucket, slot, entry.fingerprint);
    erase_stashed(layout, payload, stashed, i);
    return;
  }
}

bool insert_fingerprint(const cuckoo_layout& layout, std::byte* payload, unsigned& stashed,
                        const cuckoo_place& at) noexcept {
  for (const std::uint64_t bucket : {at.first, at.second}) {
    const unsigned slot = layout.find(payload, bucket, 0);
    if (slot == layout.slots()) continue;
    layout.set(payload, bucket, slot, at.fingerprint);
    return true;
  }
  if (insert_by_moves(layout, payload, at)) return true;
  if (stashed == stash_entries) return false;
  layout.set_stashed(payload, stashed++, {at.first, at.fingerprint, 0});
  return true;
}

}  // namespace

// From this size on it pays to prefetch whole buckets (bench/results/trials/cuckoo.md).
constexpr std::uint64_t mostly_in_memory = std::uint64_t{8} << 20;

void cuckoo_may_contain(const cuckoo_layout& layout, const std::byte* payload, unsigned stashed,
                        std::span<const hash64> hashes, bool* answers) noexcept {
  const std::uint64_t bytes = layout.payload_bytes();
  const bucket_prefetch prefetch = bytes > mostly_in_memory     ? bucket_prefetch::whole
                                   : bytes > second_level_cache ? bucket_prefetch::begins
                                                                : bucket_prefetch::none;
  chosen_kernels<cuckoo_kernels>().contains(layout, payload, hashes, answers, prefetch);
  if (stashed == 0) return;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    if (!answers[i]) {
      answers[i] = is_stashed(layout, payload, stashed, hashes[i]);
    }
  }
}

unsigned stashed_copies(const cuckoo_layout& layout, const std::byte* payload, unsigned stashed,
                        const cuckoo_place& at) noexcept {
  unsigned found = 0;
  for (unsigned i = 0; i < stashed; ++i) found += is_stashed_at(layout, payload, i, at) ? 1 : 0;
  return found;
}

bool is_stashed(const cuckoo_layout& layout, const std::byte* payload, unsigned stashed,
                hash64 h) noexcept {
  return stashed_copies(layout, payload, stashed, layout.place(h)) != 0;
}

unsigned all_copies(const cuckoo_layout& layout, const std::byte* payload, unsigned stashed,
                    const cuckoo_place& at) noexcept {
  unsigned found = layout.copies(payload, at.first, at.fingerprint) +
                   stashed_copies(layout, payload, stashed, at);
  if (at.first != at.second) found += layout.copies(payload, at.second, at.fingerprint);
  return found;
}

insert_outcome insert_copy(const cuckoo_layout& layout, std::byte* payload, unsigned& stashed,
                           const cuckoo_place& at) noexcept {
  const unsigned present = all_copies(layout, payload, stashed, at);
  if (present >= (at.first == at.second ? 1 : 2) * layout.slots()) {
    return insert_outcome::too_many_copies;
  }
  if (!insert_fingerprint(layout, payload, stashed, at)) return insert_outcome::full;
  return present == 0 ? insert_outcome::inserted : insert_outcome::maybe_present;
}

bool erase_copy(const cuckoo_layout& layout, std::byte* payload, unsigned& stashed,
                const cuckoo_place& at) noexcept {
  for (unsigned i = 0; i < stashed; ++i) {
    if (!is_stashed_at(layout, payload, i, at)) continue;
    erase_stashed(layout, payload, stashed, i);
    return true;
  }
  for (const std::uint64_t bucket : {at.first, at.second}) {
    const unsigned slot = layout.find(payload, bucket, at.fingerprint);
    if (slot == layout.slots()) continue;
    layout.set(payload, bucket, slot, 0);
    unstash_into(layout, payload, stashed, bucket, slot);
    return true;
  }
  return false;
}

insert_summary insert_all(const cuckoo_layout& layout, std::byte* payload, unsigned& stashed,
                          const std::byte* source) noexcept {
  insert_summary added;
  const auto add = [&](std::uint64_t bucket, std::uint32_t fingerprint) noexcept {
    return added.add(insert_copy(layout, payload, stashed, layout.place(bucket, fingerprint)));
  };
  for (std::uint64_t bucket = 0; bucket < layout.buckets(); ++bucket) {
    for (unsigned slot = 0; slot < layout.slots(); ++slot) {
      const std::uint32_t fingerprint = layout.get(source, bucket, slot);
      if (fingerprint != 0 && !add(bucket, fingerprint)) return added;
    }
  }
  for (unsigned i = 0; i < stash_entries; ++i) {
    const stash_entry entry = layout.stashed(source, i);
    if (entry.fingerprint != 0 && !add(entry.bucket, entry.fingerprint)) return added;
  }
  return added;
}

cuckoo_census take_cuckoo_census(const cuckoo_layout& layout, const std::byte* payload,
                                 unsigned stashed) noexcept {
  std::uint64_t pairs = 0;
  std::uint64_t single = 0;  // of these, where the two buckets are the same
  // A stored fingerprint counts for its bucket, and for the other bucket unless it is stored there
  // too. Queries of other buckets wait for a group of them, so that their cache misses overlap.
  std::array<cuckoo_place, 64> waiting;
  unsigned count = 0;
  const auto settle = [&]() noexcept {
    for (unsigned i = 0; i < count; ++i) {
      pairs += !layout.contains(payload, waiting[i].second, waiting[i].fingerprint);
    }
    count = 0;
  };
  for (std::uint64_t bucket = 0; bucket < layout.buckets(); ++bucket) {
    for (unsigned slot = 0; slot < layout.slots(); ++slot) {
      const std::uint32_t fingerprint = layout.get(payload, bucket, slot);
      if (fingerprint == 0 || layout.find(payload, bucket, fingerprint) != slot) continue;
      ++pairs;
      const cuckoo_place at = layout.place(bucket, fingerprint);
      if (at.second == bucket) {
        ++single;
        continue;
      }
      layout.prefetch(payload, at.second);
      waiting[count++] = at;
      if (count == waiting.size()) settle();
    }
  }
  settle();
  for (unsigned i = 0; i < stashed; ++i) {
    const stash_entry entry = layout.stashed(payload, i);
    const cuckoo_place at = layout.place(entry.bucket, entry.fingerprint);
    // Counted already, in a bucket or as one of the i entries before.
    if (layout.contains(payload, at) || stashed_copies(layout, payload, i, at) != 0) continue;
    pairs += at.first == at.second ? 1 : 2;
    single += at.first == at.second ? 1 : 0;
  }
  return {pairs, (pairs + single) / 2};
}

std::optional<unsigned> check_stash(const cuckoo_layout& layout,
                                    std::span<const std::byte> payload) noexcept {
  // The table ends in the last word before the stash.
  const unsigned used_bits = layout.table_bits() % 64;
  const auto last_word = load<std::uint64_t>(payload.data() + layout.stash_at() - 8);
  if (used_bits != 0 && last_word >> used_bits != 0) return std::nullopt;
  unsigned used = 0;
  for (; used < stash_entries; ++used) {
    const stash_entry entry = layout.stashed(payload.data(), used);
    if (entry.fingerprint == 0) break;
    if (entry.zero != 0 || entry.fingerprint > layout.values() ||
        entry.bucket >= layout.buckets()) {
      return std::nullopt;
    }
  }
  const auto unused = payload.subspan(layout.stash_at() + used * sizeof(stash_entry));
  if (!is_zero(unused)) return std::nullopt;
  return used;
}

}  // namespace bloomset::detail
