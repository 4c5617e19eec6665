// Large batches of keys into an expandable filter: grouped by segment, and each segment rewritten
// once for all its keys.

#include <algorithm>
#include <cmath>
#include <new>
#include <optional>
#include <vector>

#include <bloomset/detail/expandable/owned_segments.hpp>

#include "core/partition.hpp"
#include "kinds/expandable/schedule.hpp"

namespace bloomset::detail {
namespace {

// With at least one key per this many cells a pass over a segment is faster than single inserts:
// the pass handles some ten entries per key, each in a twentieth of an insert's time.
constexpr std::uint64_t max_cells_per_key = 16;
constexpr std::size_t min_chunk = std::size_t{1} << 15;
constexpr std::size_t max_keys_per_segment = std::size_t{1} << 16;
// 256 MiB of hashes at most, with room for segments that get twice as many as others.
constexpr std::size_t max_batch_chunk = std::size_t{1} << 24;

// The size of the next chunk, or 0 if single inserts are faster. A chunk at most doubles the
// entries: the room that its keys need is known only after copies are distinguished from new keys.
std::size_t chunk_size(const expandable_params& params, std::size_t hashes) noexcept {
  const std::uint64_t room = params.max_entries() - std::min(params.max_entries(), params.entries);
  // A fixed filter is filled first.
  const bool fills = params.is_fixed() && room >= min_chunk;
  const std::uint64_t max =
      fills ? room : std::max({params.entries, room, std::uint64_t{min_chunk}});
  const std::uint64_t min = std::max(std::uint64_t{min_chunk}, params.cells() / max_cells_per_key);
  const std::size_t chunk =
      std::min({static_cast<std::uint64_t>(hashes), max, std::uint64_t{max_batch_chunk}});
  return chunk < min ? 0 : chunk;
}

}  // namespace

void owned_segments::insert_bulk(expandable_params& params, std::span<const hash64> hashes,
                                 insert_summary& summary) noexcept {
  while (const std::size_t size = chunk_size(params, hashes.size() - summary.done)) {
    if (!insert_chunk(params, hashes.subspan(summary.done, size), summary)) break;
  }
}

// Inserts all keys of a chunk, or none. Keys of different segments may change their order. The
// outcomes are the same, except for keys that match by chance.
bool owned_segments::insert_chunk(expandable_params& params, std::span<const hash64> hashes,
                                  insert_summary& summary) noexcept try {
  // Whole doublings first, while there is less to rewrite. Keys get longer entries than they would
  // have had on the way, so the rate is no higher.
  const std::uint64_t wanted = params.entries + hashes.size();
  const auto outgrows_doubling = [&] {
    return params.is_fixed()
               ? wanted > params.capacity
               : schedule::segments_for(params, wanted) > std::uint64_t{2} << params.level;
  };
  while (params.widens() || outgrows_doubling()) {
    if (!grow(params)) return false;
  }
  // The keys by segment. The keys that a segment's pass does not place become its first.
  struct leftover {
    std::size_t size = 0;
    std::size_t done = 0;  // inserted one by one afterwards
  };
  std::vector<leftover> leftovers(params.segments());
  const auto segment_of = [params](hash64 h) noexcept {
    return static_cast<std::size_t>(place_of(params, h).segment);
  };
  const double share = std::ldexp(1.0, -static_cast<int>(params.level));
  hash_partition regions(hash_regions{segment_of, leftovers.size(), share}, 1);
  if (!regions.allocate(hashes.size(), false)) return false;
  regions.gather(hashes);
  const auto for_each_segment = [&](auto&& work) {
    std::uint64_t segment = 0;
    regions.for_each_region([&](std::span<hash64> keys) {
      work(segment, keys, leftovers[segment]);
      ++segment;
    });
  };

  const std::uint64_t needed = params.is_fixed() ? 1 : schedule::segments_for(params, wanted);
  std::uint64_t splits = needed - std::min(needed, params.segments());
  merge_buffers buffers;
  std::uint64_t newly_inserted = 0;
  for_each_segment([&](std::uint64_t segment, std::span<hash64> keys, leftover& left) {
    const bool is_split = splits != 0 && segment == params.split;
    splits -= is_split;
    // Keys whose copies are counted are inserted one by one.
    if (list[segment].counted != 0) {
      const auto others = std::partition(keys.begin(), keys.end(), [&](hash64 h) {
        return counted_of(segments[segment].copies(), h) != 0;
      });
      left.size = static_cast<std::size_t>(others - keys.begin());
    }
    left.size += merge(params, segment, is_split, keys.subspan(left.size), buffers, newly_inserted);
  });
  bool is_full = false;
  for_each_segment([&](std::uint64_t, std::span<hash64> keys, leftover& left) {
    for (; left.done < left.size && !is_full; left.done += !is_full) {
      const hash64 key = keys[left.done];
      const insert_outcome outcome = insert(params, key);
      is_full = !is_contained(outcome);
      newly_inserted += outcome == insert_outcome::inserted;
    }
  });
  if (is_full) {
    for_each_segment([&](std::uint64_t, std::span<hash64> keys, const leftover& left) {
      for (std::size_t i = 0; i < keys.size(); ++i) {
        const bool is_inserted = i < left.done || i >= left.size;
        if (is_inserted) (void)erase(params, keys[i]);
      }
    });
    return false;
  }
  summary.done += hashes.size();
  summary.inserted += newly_inserted;
  summary.maybe_present += hashes.size() - newly_inserted;
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

// One pass over a segment with its keys. Returns the number of keys that were not placed; they come
// first.
std::size_t owned_segments::merge(expandable_params& params, std::uint64_t segment, bool splits,
                                  std::span<hash64> keys, merge_buffers& buffers,
                                  std::uint64_t& newly_inserted) noexcept try {
  const auto next = splits ? params.grown() : std::nullopt;
  if (keys.size() > max_keys_per_segment || (keys.empty() && !next)) return keys.size();
  const segment_shape shape = shape_of(params, segment);
  const auto bytes = segments[segment].bytes.bytes();
  const merge_order order{.segment = segment,
                          .level = level_of(params, segment),
                          .splits = next.has_value(),
                          .slot_bits = next ? next->newest_slot_bits() : shape.slot_bits};
  const auto merged = segment_ops().merge(shape, bytes, order, max_copies_in_cell, keys, buffers);
  if (!merged) return keys.size();
  const bool is_put = next ? put_pair(params, *next, merged->segments)
                           : put_built(shape, segment, merged->segments.first);
  if (!is_put) return keys.size();
  params.entries += merged->placed;
  newly_inserted += merged->newly_inserted;
  return keys.size() - merged->placed;
} catch (const std::bad_alloc&) {
  return keys.size();
}

}  // namespace bloomset::detail
