#include <bloomset/detail/vector_quotient/table.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bloomset/detail/vector_quotient/seqlocks.hpp>

namespace bloomset::detail {
namespace {

#include "kinds/vector_quotient/kernels/insert.inl"

void set_stash(const vq_writer& filter, unsigned i, const vq_entry& entry) noexcept {
  store(filter.blocks + filter.layout->block_bytes() + i * sizeof(vq_entry), entry);
}

// Concurrent readers ask whether the stash is in use.
void set_stashed(const vq_writer& filter, unsigned n) noexcept {
  std::atomic_ref(*filter.stashed).store(n, std::memory_order_release);
}

void erase_stashed(const vq_writer& filter, unsigned i) noexcept {
  const unsigned last = *filter.stashed - 1;
  set_stashed(filter, last);
  set_stash(filter, i, filter.reader().stash(last));
  set_stash(filter, last, {0, 0});
}

// The stash entry of the tag, or the number of entries in use.
unsigned find_stashed(const vq_reader& filter, std::uint64_t pair) noexcept {
  unsigned i = 0;
  while (i < filter.stashed && filter.stash(i).pair != pair) ++i;
  return i;
}

void insert_tag(const vq_layout& layout, std::byte* block, std::uint64_t tag) noexcept {
  const unsigned bucket = layout.bucket_of(tag);
  layout.insert(block, bucket, layout.run(block, bucket).end, layout.remainder_of(tag));
}

// The copies in a block beyond the first of each tag: their number, and the first of them.
struct spare_copies {
  unsigned count = 0;
  unsigned slot = 0;
  std::uint64_t tag = 0;
};
spare_copies find_spare_copies(const vq_writer& filter, std::uint64_t block) noexcept {
  const vq_layout& layout = *filter.layout;
  spare_copies spare;
  std::array<std::uint64_t, vq_max_slots> tags;
  layout.for_each_tag(layout.block(filter.blocks, block),
                      [&](unsigned slot, std::uint64_t tag) noexcept {
                        tags[slot] = tag;
                        // Equal tags are in one bucket, and tags are in bucket order.
                        const unsigned bucket = layout.bucket_of(tag);
                        for (unsigned i = slot; i != 0; --i) {
                          if (layout.bucket_of(tags[i - 1]) != bucket) break;
                          if (tags[i - 1] != tag) continue;
                          if (spare.count++ == 0) spare = {1, slot, tag};
                          break;
                        }
                        return true;
                      });
  return spare;
}

// Moves a spare copy of a full block to the overflow table, so that copies do not change how many
// different tags fit (docs/maintain/decisions/kinds/vector-quotient-copies.md).
bool displace_copy(const vq_writer& filter, std::uint64_t from) noexcept {
  const vq_layout& layout = *filter.layout;
  const spare_copies spare = find_spare_copies(filter, from);
  if (spare.count == 0 ||
      !filter.overflow->insert(layout.pair_number(layout.place(from, spare.tag)), 1)) {
    return false;
  }
  layout.erase(layout.block(filter.blocks, from), layout.bucket_of(spare.tag), spare.slot);
  return true;
}

// Moves one of the first `candidates` remainders of a full block to its other block, if that has a
// free slot, or with `displacing` a copy to displace. The remainder is in both blocks for a moment,
// so that concurrent readers never miss it.
bool relocate(const vq_writer& filter, std::uint64_t from, unsigned candidates,
              bool displacing) noexcept {
  const vq_layout& layout = *filter.layout;
  std::byte* const block = layout.block(filter.blocks, from);
  bool moved = false;
  layout.for_each_tag(block, [&](unsigned slot, std::uint64_t resident) noexcept {
    if (slot >= candidates) return false;
    const std::uint64_t to = layout.other_block(from, resident);
    if (to == from) return true;
    std::byte* const target = layout.block(filter.blocks, to);
    if (!displacing && layout.taken(target) >= layout.slots()) return true;
    {
      const vq_block_write write(filter.seqlocks, to);
      if (displacing && !displace_copy(filter, to)) return true;
      if (layout.taken(target) >= layout.slots()) return true;  // damaged
      insert_tag(layout, target, resident);
    }
    layout.erase(block, layout.bucket_of(resident), slot);
    moved = true;
    return false;
  });
  return moved;
}

// Inserts a tag whose two blocks are full.
bool insert_into_full(const vq_writer& filter, const vector_quotient_place& at) noexcept {
  const vq_layout& layout = *filter.layout;
  const auto insert_after = [&](std::uint64_t block, auto&& free_slot) noexcept {
    std::byte* const bytes = layout.block(filter.blocks, block);
    // A damaged block may seem to have more remainders than slots.
    if (layout.taken(bytes) != layout.slots() || !free_slot(block)) return false;
    insert_tag(layout, bytes, at.tag);
    return true;
  };
  const auto in_either = [&](auto&& free_slot) noexcept {
    return insert_after(at.first, free_slot) || insert_after(at.second, free_slot);
  };
  const auto displace = [&](std::uint64_t block) noexcept { return displace_copy(filter, block); };
  const auto relocate_one_of = [&](unsigned candidates, bool displacing) noexcept {
    return [&filter, candidates, displacing](std::uint64_t block) noexcept {
      return relocate(filter, block, candidates, displacing);
    };
  };
  // Many spare copies mean that keys are inserted several times. Then copies are displaced first,
  // from the block with fewer different tags, which keeps the blocks balanced. Else the spare
  // copies are those of different keys with equal tags (0.3 per block of 53 slots at a rate of 1%),
  // and moving a tag saves the 16 bytes of an overflow entry.
  const unsigned many = layout.slots() >= 40 ? 2 : 1;
  const unsigned first = find_spare_copies(filter, at.first).count;
  const unsigned second = find_spare_copies(filter, at.second).count;
  if (std::max(first, second) >= many &&
      insert_after(second > first ? at.second : at.first, displace)) {
    return true;
  }
  // The place's two blocks and the other blocks of 2 * 5 tags are twelve cache lines.
  constexpr unsigned few = 5;
  return in_either(relocate_one_of(few, false)) || in_either(displace) ||
         in_either(relocate_one_of(vq_max_slots, false)) ||
         in_either(relocate_one_of(vq_max_slots, true));
}

// A slot of the block became free: a stashed tag of the block moves there.
void unstash_into(const vq_writer& filter, std::uint64_t block) noexcept {
  const vq_layout& layout = *filter.layout;
  std::byte* const bytes = layout.block(filter.blocks, block);
  if (*filter.stashed == 0 || layout.taken(bytes) >= layout.slots()) return;
  for (unsigned i = 0; i < *filter.stashed; ++i) {
    const vq_entry entry = filter.reader().stash(i);
    const vector_quotient_place at = layout.place_of_pair(entry.pair);
    if (at.first != block && at.second != block) continue;
    if (entry.copies > 1 && !filter.overflow->insert(entry.pair, entry.copies - 1)) continue;
    insert_tag(layout, bytes, at.tag);
    erase_stashed(filter, i);
    return;
  }
}

bool erase_from_blocks(const vq_writer& filter, const vector_quotient_place& at) noexcept {
  const vq_layout& layout = *filter.layout;
  for (const std::uint64_t i : {at.first, at.second}) {
    std::byte* const block = layout.block(filter.blocks, i);
    const vq_lookup found = layout.look_up(block, at.tag);
    if (found.copies == 0) continue;
    layout.erase(block, layout.bucket_of(at.tag), found.slot);
    unstash_into(filter, i);
    return true;
  }
  return false;
}

bool erase_from_stash(const vq_writer& filter, std::uint64_t pair) noexcept {
  const unsigned i = find_stashed(filter.reader(), pair);
  if (i == *filter.stashed) return false;
  const std::uint64_t copies = filter.reader().stash(i).copies;
  if (copies > 1) {
    set_stash(filter, i, {pair, copies - 1});
  } else {
    erase_stashed(filter, i);
  }
  return true;
}

}  // namespace

std::uint64_t vq_stashed_copies(const vq_reader& filter, const vector_quotient_place& at) noexcept {
  if (filter.stashed == 0) return 0;
  const unsigned i = find_stashed(filter, filter.layout->pair_number(at));
  return i < filter.stashed ? filter.stash(i).copies : 0;
}

std::uint64_t vq_copies(const vq_reader& filter, const vector_quotient_place& at) noexcept {
  const vq_layout& layout = *filter.layout;
  std::uint64_t found = layout.copies(layout.block(filter.blocks, at.first), at.tag);
  if (at.second != at.first) {
    found += layout.copies(layout.block(filter.blocks, at.second), at.tag);
  }
  if (found == 0) return vq_stashed_copies(filter, at);
  return found + filter.overflow.copies(layout.pair_number(at));
}

insert_outcome vq_insert(const vq_writer& filter, const vector_quotient_place& at) noexcept {
  const vq_layout& layout = *filter.layout;
  return vq_insert_with(
      layout, filter, at, [&](const std::byte* block) { return layout.look_up(block, at.tag); },
      [&](std::byte* block, unsigned end) {
        layout.insert(block, layout.bucket_of(at.tag), end, layout.remainder_of(at.tag));
      });
}

insert_outcome vq_insert_slow(const vq_writer& filter, const vector_quotient_place& at,
                              unsigned present) noexcept {
  const vq_layout& layout = *filter.layout;
  const std::uint64_t pair = layout.pair_number(at);
  std::byte* const first = layout.block(filter.blocks, at.first);
  std::byte* const second = layout.block(filter.blocks, at.second);
  if (present != 0) {
    // Copies stay in one block, where displace_copy sees that a slot can be spared.
    std::byte* const block = layout.copies(first, at.tag) != 0 ? first : second;
    if (present < vq_max_copies && layout.taken(block) < layout.slots()) {
      insert_tag(layout, block, at.tag);
    } else if (!filter.overflow->insert(pair, 1)) {
      return insert_outcome::full;
    }
    ++*filter.count;
    return insert_outcome::maybe_present;
  }
  if (const unsigned i = find_stashed(filter.reader(), pair); i < *filter.stashed) {
    const std::uint64_t copies = filter.reader().stash(i).copies + 1;
    if (copies == 0) return insert_outcome::full;  // only in a damaged filter
    set_stash(filter, i, {pair, copies});
    ++*filter.count;
    return insert_outcome::maybe_present;
  }
  std::byte* const emptier = layout.taken(first) <= layout.taken(second) ? first : second;
  if (layout.taken(emptier) < layout.slots()) {
    insert_tag(layout, emptier, at.tag);
  } else if (!insert_into_full(filter, at)) {
    if (*filter.stashed == vq_stash_entries) return insert_outcome::full;
    set_stash(filter, *filter.stashed, {pair, 1});
    set_stashed(filter, *filter.stashed + 1);
  }
  ++*filter.count;
  return insert_outcome::inserted;
}

bool vq_erase(const vq_writer& filter, const vector_quotient_place& at) noexcept {
  const std::uint64_t pair = filter.layout->pair_number(at);
  const bool erased = filter.overflow->erase(pair) || erase_from_blocks(filter, at) ||
                      erase_from_stash(filter, pair);
  *filter.count -= erased && *filter.count != 0;  // the count of a damaged file may be too low
  return erased;
}

bool vq_insert_all(const vq_writer& filter, const vq_reader& source) noexcept {
  const vq_layout& layout = *filter.layout;
  bool all = true;
  vq_for_each(source, [&](const vector_quotient_place& at, std::uint64_t copies) noexcept {
    all = all && *filter.count + copies >= copies;  // not beyond 2^64 copies
    std::uint64_t left = copies;
    for (unsigned i = 0; i < vq_max_copies && left != 0 && all; ++i, --left) {
      all = is_contained(vq_insert(filter, at));
    }
    if (!all || left == 0) return;
    const std::uint64_t pair = layout.pair_number(at);
    const unsigned i = find_stashed(filter.reader(), pair);
    if (i < *filter.stashed) {
      set_stash(filter, i, {pair, filter.reader().stash(i).copies + left});
    } else {
      all = filter.overflow->insert(pair, left);
    }
    *filter.count += left;
  });
  return all;
}

vq_census vq_take_census(const vq_reader& filter) noexcept {
  vq_census census;
  vq_for_each(filter, [&](const vector_quotient_place& at, std::uint64_t) noexcept {
    ++census.tags;
    census.passing += at.first == at.second ? 1 : 2;
  });
  return census;
}

std::optional<unsigned> vq_check_stash(const vq_layout& layout,
                                       std::span<const std::byte> blocks_and_stash) noexcept {
  const vq_reader filter{&layout, blocks_and_stash.data(), {}, 0};
  unsigned used = 0;
  for (unsigned i = 0; i < vq_stash_entries; ++i) {
    const vq_entry entry = filter.stash(i);
    if (entry.copies == 0) {
      if (entry.pair != 0) return std::nullopt;
      continue;
    }
    if (used != i || entry.pair >= layout.blocks() * layout.tags()) return std::nullopt;
    ++used;
  }
  return used;
}

}  // namespace bloomset::detail
