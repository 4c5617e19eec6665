// Many keys into an expandable filter at once: brought together by segment, and each segment
// written once for all of its own.

#include <algorithm>
#include <bloomery/detail/expandable/segment_table.hpp>
#include <cmath>
#include <new>
#include <vector>

#include "cpu/partition.hpp"

namespace bloomery::detail {
namespace {

// From a key for so many cells on one pass over a segment is faster than their inserts one by one:
// for each key it passes some ten entries, each in a twentieth of an insert.
constexpr std::uint64_t max_cells_a_key = 16;
constexpr std::size_t min_chunk = std::size_t{1} << 15;
constexpr std::size_t max_keys_a_segment = std::size_t{1} << 16;
// At most 256 MiB of hashes, with room for segments that get twice as many as others.
constexpr std::size_t max_chunk = std::size_t{1} << 24;

// A filter's entries at most double in a chunk: until copies have been told from keys, none is
// known to need the room.
std::size_t chunk_for(const expandable_params& params, std::size_t hashes) noexcept {
  const std::uint64_t room = params.max_entries() - std::min(params.max_entries(), params.entries);
  const std::uint64_t most = std::max({params.entries, room, std::uint64_t{min_chunk}});
  const std::size_t chunk =
      std::min({static_cast<std::uint64_t>(hashes), most, std::uint64_t{max_chunk}});
  const std::uint64_t least = std::max(std::uint64_t{min_chunk}, params.cells() / max_cells_a_key);
  return chunk < least ? 0 : chunk;
}

}  // namespace

std::size_t owned_segments::insert_bulk(expandable_params& params, std::span<const hash64> hashes,
                                        insert_summary& summary) noexcept {
  std::size_t done = 0;
  while (const std::size_t chunk = chunk_for(params, hashes.size() - done)) {
    if (!insert_chunk(params, hashes.subspan(done, chunk), summary)) break;
    done += chunk;
  }
  return done;
}

// All of them, or none. They may come to other segments' keys in another order than theirs: what
// became of each is the same, but for strangers that match by chance.
bool owned_segments::insert_chunk(expandable_params& params, std::span<const hash64> hashes,
                                  insert_summary& summary) noexcept try {
  // Whole doublings first, while there is less to be written again. Keys get longer entries than
  // they would have had on the way, so that the rate is no higher.
  const std::uint64_t wanted = params.entries + hashes.size();
  const auto doubled = [&] {
    return (std::uint64_t{2} << params.level << params.cell_bits) / 4 * 3;
  };
  while (params.cell_bits < params.segment_cell_bits || doubled() < wanted) {
    if (!grow(params)) return false;
  }
  const expandable_params before = params;
  const auto region_of = [&before](hash64 h) noexcept {
    return static_cast<std::size_t>(place_of(before, h).segment);
  };
  const auto count = static_cast<std::size_t>(params.segments());
  hash_partition regions(region_of, count, std::ldexp(1.0, -static_cast<int>(params.level)), 1);
  if (!regions.allocate(hashes.size(), false)) return false;
  struct left_keys {
    std::size_t size = 0;  // at the region's front
    std::size_t done = 0;  // and how many of them were inserted later
  };
  std::vector<left_keys> left(count);
  regions.gather(hashes);
  const auto for_each_segment = [&](auto&& work) {
    std::size_t segment = 0;
    regions.for_each_region([&](std::span<hash64> keys) {
      work(segment, keys, left[segment]);
      ++segment;
    });
  };

  // And of this doubling the splits that so many keys need, in one with them.
  const std::uint64_t in_segment = (std::uint64_t{1} << params.cell_bits) / 4 * 3;
  const std::uint64_t needed = wanted / in_segment + (wanted % in_segment != 0);
  std::uint64_t splits = needed - std::min<std::uint64_t>(needed, count);
  merge_room room;
  insert_summary chunk;
  for_each_segment([&](std::uint64_t segment, std::span<hash64> keys, left_keys& here) {
    const bool is_split = splits != 0 && segment == params.split;
    splits -= is_split;
    // Keys whose copies are counted by hash already are inserted one by one.
    const auto counted = segments[segment].counted.bytes();
    const std::size_t size = list[segment].counted;
    if (size != 0) {
      const auto others = std::partition(
          keys.begin(), keys.end(), [&](hash64 h) { return counted_of(counted, size, h) != 0; });
      here.size = static_cast<std::size_t>(others - keys.begin());
    }
    here.size += merge(params, segment, is_split, keys.subspan(here.size), room, chunk.inserted);
    chunk.done += keys.size() - here.size;
  });
  bool is_full = false;
  for_each_segment([&](std::uint64_t /*segment*/, std::span<hash64> keys, left_keys& here) {
    for (; here.done < here.size && !is_full; ++here.done) {
      const hash64 key = keys[here.done];
      const insert_outcome outcome = insert(params, key, place_of(params, key));
      is_full = !is_contained(outcome);
      if (is_full) break;
      chunk.inserted += outcome == insert_outcome::inserted;
      ++chunk.done;
    }
  });
  if (is_full) {
    for_each_segment([&](std::uint64_t /*segment*/, std::span<hash64> keys, left_keys& here) {
      for (std::size_t i = 0; i < keys.size(); ++i) {
        if (i < here.done || i >= here.size)
          (void)erase(params, keys[i], place_of(params, keys[i]));
      }
    });
    return false;
  }
  summary.done += chunk.done;
  summary.inserted += chunk.inserted;
  summary.maybe_present += chunk.done - chunk.inserted;
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

// One segment with its keys; returns how many of them it could not take, which are the first now.
std::size_t owned_segments::merge(expandable_params& params, std::uint64_t segment, bool splits,
                                  std::span<hash64> keys, merge_room& room,
                                  std::uint64_t& fresh) noexcept try {
  const auto next = splits ? params.grown() : std::nullopt;
  // More have no room in any segment.
  if (keys.size() > max_keys_a_segment || (keys.empty() && !next)) return keys.size();
  const segment_shape shape = shape_of(params, segment);
  const auto bytes = segments[segment].bytes.bytes();
  const unsigned next_bits = !next              ? shape.slot_bits
                             : next->split == 0 ? next->slot_bits
                                                : next->deep_slot_bits;
  const merge_order order{segment, params.level + (is_deep(params, segment) ? 1 : 0),
                          next.has_value(), next_bits,
                          load<std::uint16_t>(bytes.data() + shape.table_bytes() - 2)};
  const auto merged = segment_ops().merge(shape, bytes, order, max_copies_in_cell, keys, room);
  if (!merged) return keys.size();
  if (next) {
    if (!put_pair(params, *next, merged->parts)) return keys.size();
  } else {
    const auto size = merged->parts.first.stored_bytes(shape);
    auto place = size ? arena_.make(*size, pages_) : std::nullopt;
    if (!place) return keys.size();
    merged->parts.first.write(shape, place->writable_bytes());
    put(segment, *place);
  }
  params.entries += merged->placed;
  fresh += merged->fresh;
  return keys.size() - merged->placed;
} catch (const std::bad_alloc&) {
  return keys.size();
}

}  // namespace bloomery::detail
