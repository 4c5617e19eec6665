#include <bloomery/detail/vector_quotient/table.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bloomery/detail/vector_quotient/stripes.hpp>

namespace bloomery::detail {
namespace {

// With so many copies beyond their tags' first in a block keys are taken to come several times, and
// a copy gives up its slot before a tag is moved. In a block of distinct keys there are 0.3 of 53
// at a rate of 1%, few of which are to cost an entry of the side table.
constexpr unsigned many_spare(const vq_layout& layout) noexcept {
  return layout.slots() >= 40 ? 2 : 1;
}

void set_stash(const vq_writer& filter, unsigned i, const vq_entry& entry) noexcept {
  store(filter.blocks + filter.layout->block_bytes() + i * sizeof(vq_entry), entry);
}

// Other threads may be asking whether there is anything in the stash.
void set_stashed(const vq_writer& filter, unsigned n) noexcept {
  std::atomic_ref(*filter.stashed).store(n, std::memory_order_release);
}

void unstash(const vq_writer& filter, unsigned i) noexcept {
  const unsigned last = *filter.stashed - 1;
  set_stashed(filter, last);
  set_stash(filter, i,
            load<vq_entry>(filter.blocks + filter.layout->block_bytes() + last * sizeof(vq_entry)));
  set_stash(filter, last, {0, 0});
}

// The stash entry of the tag, or the number of entries in use.
unsigned find_stashed(const vq_reader& filter, std::uint64_t pair) noexcept {
  unsigned i = 0;
  while (i < filter.stashed && filter.stash(i).pair != pair) ++i;
  return i;
}

void put_tag(const vq_layout& layout, std::byte* block, std::uint64_t tag) noexcept {
  const unsigned bucket = layout.bucket_of(tag);
  layout.put(block, bucket, layout.run(block, bucket).end, layout.remainder_of(tag));
}

// Calls use(slot, tag) for each copy that a block could do without, until it returns false.
template <class Use>
void for_spare_copies(const vq_writer& filter, std::uint64_t of, Use&& use) noexcept {
  const vq_layout& layout = *filter.layout;
  std::array<std::uint64_t, vq_most_slots> tags;
  layout.for_tags(layout.block(filter.blocks, of), [&](unsigned slot, std::uint64_t tag) noexcept {
    tags[slot] = tag;
    // Equal ones are in one bucket, and buckets in order.
    for (unsigned i = slot; i != 0 && layout.bucket_of(tags[i - 1]) == layout.bucket_of(tag); --i) {
      if (tags[i - 1] == tag) return use(slot, tag);
    }
    return true;
  });
}

// One of several copies in a full block goes to the side table: so the number of different tags
// that fit does not depend on the copies.
bool displace_copy(const vq_writer& filter, std::uint64_t from) noexcept {
  const vq_layout& layout = *filter.layout;
  bool displaced = false;
  for_spare_copies(filter, from, [&](unsigned slot, std::uint64_t resident) noexcept {
    displaced = filter.side->add(layout.pair_of(layout.place(from, resident)), 1);
    if (displaced) {
      layout.take(layout.block(filter.blocks, from), layout.bucket_of(resident), slot);
    }
    return false;
  });
  return displaced;
}

// How many copies a block could do without.
unsigned spare_copies(const vq_writer& filter, std::uint64_t of) noexcept {
  unsigned spare = 0;
  for_spare_copies(filter, of, [&](unsigned, std::uint64_t) noexcept {
    ++spare;
    return true;
  });
  return spare;
}

// One remainder of a full block moves to its other block, if that has room or a copy can make some.
// It is put there before it is taken here. The first `most` are looked at.
enum class room : std::uint8_t { as_it_is, for_copies };
bool relocate(const vq_writer& filter, std::uint64_t from, room wanted, unsigned most) noexcept {
  const vq_layout& layout = *filter.layout;
  std::byte* const block = layout.block(filter.blocks, from);
  bool moved = false;
  layout.for_tags(block, [&](unsigned slot, std::uint64_t resident) noexcept {
    if (slot >= most) return false;
    const std::uint64_t to = layout.other(from, resident);
    if (to == from) return true;
    std::byte* const target = layout.block(filter.blocks, to);
    if (wanted == room::as_it_is && layout.taken(target) >= layout.slots()) return true;
    {
      const vq_change change(filter.stripes, to);
      if (wanted == room::for_copies && !displace_copy(filter, to)) return true;
      if (layout.taken(target) >= layout.slots()) return true;  // damaged
      put_tag(layout, target, resident);
    }
    layout.take(block, layout.bucket_of(resident), slot);
    moved = true;
    return false;
  });
  return moved;
}

// A place for the tag in one of its blocks, both of which are full.
bool make_room(const vq_writer& filter, const vector_quotient_place& at) noexcept {
  const auto in_either = [&](auto&& way) noexcept {
    // NOLINTNEXTLINE(readability-use-anyofallof): the order is what it is about
    for (const std::uint64_t block : {at.first, at.second}) {
      // A damaged block may seem to have more slots than there are.
      if (filter.layout->taken(filter.layout->block(filter.blocks, block)) ==
              filter.layout->slots() &&
          way(block)) {
        put_tag(*filter.layout, filter.layout->block(filter.blocks, block), at.tag);
        return true;
      }
    }
    return false;
  };
  // Where copies are many they go, from the block with fewer different tags, so that these stay
  // balanced; where there are but those of keys that look alike, the side table is spared.
  const unsigned first = spare_copies(filter, at.first);
  const unsigned second = spare_copies(filter, at.second);
  const std::uint64_t more = second > first ? at.second : at.first;
  const auto displace = [&](auto block) noexcept { return displace_copy(filter, block); };
  if (std::max(first, second) >= many_spare(*filter.layout) && in_either([&](auto block) noexcept {
        return block == more && displace_copy(filter, block);
      })) {
    return true;
  }
  // Two blocks and ten others are twelve lines; more only where none of these helps.
  constexpr unsigned few = 5;
  const auto move_one_of = [&](unsigned most, room wanted) noexcept {
    return in_either([&](auto block) noexcept { return relocate(filter, block, wanted, most); });
  };
  return move_one_of(few, room::as_it_is) || in_either(displace) ||
         move_one_of(vq_most_slots, room::as_it_is) || move_one_of(vq_most_slots, room::for_copies);
}

}  // namespace

std::uint64_t vq_stashed_copies(const vq_reader& filter, const vector_quotient_place& at) noexcept {
  if (filter.stashed == 0) return 0;
  const unsigned i = find_stashed(filter, filter.layout->pair_of(at));
  return i < filter.stashed ? filter.stash(i).copies : 0;
}

std::uint64_t vq_copies(const vq_reader& filter, const vector_quotient_place& at) noexcept {
  const vq_layout& layout = *filter.layout;
  std::uint64_t found = layout.copies(layout.block(filter.blocks, at.first), at.tag);
  if (at.second != at.first) {
    found += layout.copies(layout.block(filter.blocks, at.second), at.tag);
  }
  if (found == 0) return vq_stashed_copies(filter, at);
  return filter.side.slots() == 0 ? found : found + filter.side.copies(layout.pair_of(at));
}

insert_outcome vq_insert(const vq_writer& filter, const vector_quotient_place& at) noexcept {
  const vq_layout& layout = *filter.layout;
  const unsigned bucket = layout.bucket_of(at.tag);
  const std::uint64_t remainder = layout.remainder_of(at.tag);
  std::byte* const first = layout.block(filter.blocks, at.first);
  std::byte* const second = layout.block(filter.blocks, at.second);
  const vq_run in_first = layout.run(first, bucket);
  const vq_run in_second = layout.run(second, bucket);
  unsigned present = layout.copies(first, in_first, remainder);
  if (first != second) present += layout.copies(second, in_second, remainder);
  const unsigned taken = layout.taken(first);
  const unsigned taken_second = layout.taken(second);
  const bool is_first = taken <= taken_second;
  if (present != 0 || (is_first ? taken : taken_second) >= layout.slots() || *filter.stashed != 0) {
    return vq_insert_else(filter, at, present);
  }
  layout.put(is_first ? first : second, bucket, (is_first ? in_first : in_second).end, remainder);
  ++*filter.count;
  return insert_outcome::inserted;
}

insert_outcome vq_insert_else(const vq_writer& filter, const vector_quotient_place& at,
                              unsigned present) noexcept {
  const vq_layout& layout = *filter.layout;
  const std::uint64_t pair = layout.pair_of(at);
  const std::uint64_t emptier = layout.taken(layout.block(filter.blocks, at.first)) <=
                                        layout.taken(layout.block(filter.blocks, at.second))
                                    ? at.first
                                    : at.second;
  std::byte* const block = layout.block(filter.blocks, emptier);
  const bool has_slot = layout.taken(block) < layout.slots();
  if (present != 0) {
    // Beside the first, where it is seen that the slot can be spared.
    const bool is_first = layout.copies(layout.block(filter.blocks, at.first), at.tag) != 0;
    std::byte* const beside = layout.block(filter.blocks, is_first ? at.first : at.second);
    if (present < vq_most_copies && layout.taken(beside) < layout.slots()) {
      put_tag(layout, beside, at.tag);
    } else if (!filter.side->add(pair, 1)) {
      return insert_outcome::full;
    }
    ++*filter.count;
    return insert_outcome::maybe_present;
  }
  if (*filter.stashed != 0) {
    const unsigned i = find_stashed(filter.reader(), pair);
    if (i < *filter.stashed) {
      const std::uint64_t copies = filter.reader().stash(i).copies;
      if (copies + 1 == 0) return insert_outcome::full;  // only in a damaged filter
      set_stash(filter, i, {pair, copies + 1});
      ++*filter.count;
      return insert_outcome::maybe_present;
    }
  }
  if (has_slot) {
    put_tag(layout, block, at.tag);
  } else if (!make_room(filter, at)) {
    if (*filter.stashed == vq_stash_entries) return insert_outcome::full;
    set_stash(filter, *filter.stashed, {pair, 1});
    set_stashed(filter, *filter.stashed + 1);
  }
  ++*filter.count;
  return insert_outcome::inserted;
}

bool vq_erase(const vq_writer& filter, const vector_quotient_place& at) noexcept {
  const vq_layout& layout = *filter.layout;
  // A count from a damaged file may be too low.
  const auto done = [&]() noexcept {
    *filter.count -= *filter.count != 0;
    return true;
  };
  if (filter.side->slots() != 0 && filter.side->take(layout.pair_of(at))) return done();
  for (const std::uint64_t i : {at.first, at.second}) {
    std::byte* const block = layout.block(filter.blocks, i);
    const unsigned bucket = layout.bucket_of(at.tag);
    const vq_run run = layout.run(block, bucket);
    const unsigned slot = layout.find(block, run, layout.remainder_of(at.tag));
    if (slot == run.end) continue;
    layout.take(block, bucket, slot);
    if (*filter.stashed != 0) vq_refill(filter, i);
    return done();
  }
  if (*filter.stashed != 0) {
    const std::uint64_t pair = layout.pair_of(at);
    const unsigned i = find_stashed(filter.reader(), pair);
    if (i < *filter.stashed) {
      const std::uint64_t copies = filter.reader().stash(i).copies;
      if (copies > 1) {
        set_stash(filter, i, {pair, copies - 1});
      } else {
        unstash(filter, i);
      }
      return done();
    }
  }
  return false;
}

void vq_refill(const vq_writer& filter, std::uint64_t block) noexcept {
  const vq_layout& layout = *filter.layout;
  std::byte* const into = layout.block(filter.blocks, block);
  if (layout.taken(into) >= layout.slots()) return;
  for (unsigned i = 0; i < *filter.stashed; ++i) {
    const vq_entry entry = filter.reader().stash(i);
    const vector_quotient_place at = layout.place_of_pair(entry.pair);
    if (at.first != block && at.second != block) continue;
    if (entry.copies > 1 && !filter.side->add(entry.pair, entry.copies - 1)) continue;
    put_tag(layout, into, at.tag);
    unstash(filter, i);
    return;
  }
}

bool vq_insert_all(const vq_writer& filter, const vq_reader& theirs) noexcept {
  const vq_layout& layout = *filter.layout;
  bool all = true;
  vq_for_each(theirs, [&](const vector_quotient_place& at, std::uint64_t copies) noexcept {
    if (!all) return;
    if (*filter.count + copies < copies) {  // the sum of all counts is one
      all = false;
      return;
    }
    std::uint64_t left = copies;
    for (unsigned i = 0; i < vq_most_copies && left != 0 && all; ++i, --left) {
      all = is_contained(vq_insert(filter, at));
    }
    if (!all || left == 0) return;
    const std::uint64_t pair = layout.pair_of(at);
    const unsigned i = find_stashed(filter.reader(), pair);
    if (i < *filter.stashed) {
      set_stash(filter, i, {pair, filter.reader().stash(i).copies + left});
    } else {
      all = filter.side->add(pair, left);
    }
    *filter.count += left;
  });
  return all;
}

void vq_count(const vq_reader& filter, std::span<const hash64> hashes,
              std::uint64_t* counts) noexcept {
  constexpr std::size_t group = 16;
  const vq_layout& layout = *filter.layout;
  std::array<vector_quotient_place, group> places;
  for (std::size_t first = 0; first < hashes.size(); first += group) {
    const std::size_t n = std::min(group, hashes.size() - first);
    for (std::size_t i = 0; i < n; ++i) {
      places[i] = layout.place(hashes[first + i]);
      __builtin_prefetch(layout.block(filter.blocks, places[i].first));
      __builtin_prefetch(layout.block(filter.blocks, places[i].second));
      filter.side.prefetch(layout.pair_of(places[i]));
    }
    for (std::size_t i = 0; i < n; ++i) counts[first + i] = vq_copies(filter, places[i]);
  }
}

vq_census vq_take_census(const vq_reader& filter) noexcept {
  vq_census census;
  vq_for_each(filter, [&](const vector_quotient_place& at, std::uint64_t) noexcept {
    ++census.tags;
    census.passing += at.first == at.second ? 1 : 2;
  });
  return census;
}

std::uint64_t vq_slots_taken(const vq_reader& filter) noexcept {
  const vq_layout& layout = *filter.layout;
  std::uint64_t taken = 0;
  for (std::uint64_t i = 0; i < layout.blocks(); ++i) {
    taken += std::min(layout.taken(layout.block(filter.blocks, i)), layout.slots());
  }
  return taken;
}

std::optional<unsigned> vq_check_stash(const vq_layout& layout,
                                       std::span<const std::byte> blocks_and_stash) noexcept {
  const vq_reader filter{&layout, blocks_and_stash.data(), {}, 0};
  unsigned used = 0;
  for (unsigned i = 0; i < vq_stash_entries; ++i) {
    const vq_entry entry = filter.stash(i);
    if (entry.copies == 0) {
      if (entry.pair != 0) return std::nullopt;
    } else if (used != i || entry.pair >= layout.blocks() * layout.tags()) {
      return std::nullopt;
    } else {
      ++used;
    }
  }
  return used;
}

}  // namespace bloomery::detail
