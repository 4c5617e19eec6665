// The growth of an expandable filter by one step: its only segment gets twice the cells, or the
// next segment is split.

#include <array>
#include <exception>
#include <utility>

#include <bloomery/detail/expandable/owned_segments.hpp>

namespace bloomery::detail {

bool owned_segments::grow(expandable_params& params) noexcept try {
  const auto next = params.grown();
  if (!next) return false;
  if (params.widens()) {
    const auto wide =
        segment_ops().widen(shape_of(params, 0), segments[0].bytes.bytes(), next->slot_bits);
    if (!wide || !put_built(shape_of(*next, 0), 0, wide->first)) return false;
    params = *next;
    params.entries += wide->gained;
    return true;
  }
  segment_shape shape = shape_of(params, params.split);
  const auto split = [&] {
    const auto pair =
        segment_ops().split(shape, segments[params.split].bytes.bytes(), next->newest_slot_bits());
    return pair && put_pair(params, *next, *pair);
  };
  if (split()) return true;
  // Chosen keys may all go to one of the two, which then has no room for gaps.
  shape.gaps = no_gaps;
  return split();
} catch (const std::exception&) {
  return false;
}

// Replaces the next segment to be split by two. Changes nothing if it fails or throws.
bool owned_segments::put_pair(expandable_params& params, const expandable_params& next,
                              const segment_pair& pair) {
  const std::uint64_t from = params.split;
  const std::uint64_t to = segments.size();
  const segment_shape shape{params.cell_bits, next.newest_slot_bits()};
  const auto first_size = pair.first.stored_bytes(shape);
  const auto second_size = pair.second.stored_bytes(shape);
  if (!first_size || !second_size) return false;
  std::array<source_vector<counted_copies>, 2> copies;
  for (const counted_copies& each : segments[from].counted) {
    copies.at(each.hash >> params.level & 1).push_back(each);
  }
  if (to == segments.capacity()) segments.reserve(2 * to);
  if (to == list.capacity()) list.reserve(2 * to);
  auto first = arena_.make(*first_size, pages_);
  if (!first) return false;
  auto second = arena_.make(*second_size, pages_);
  if (!second) {
    arena_.give_back(*first);
    return false;
  }
  pair.first.write(shape, first->writable_bytes());
  pair.second.write(shape, second->writable_bytes());
  segments.emplace_back();
  list.emplace_back();
  put(from, *first);
  put(to, *second);
  for (const auto& [side, segment] : {std::pair{0U, from}, std::pair{1U, to}}) {
    list[segment].counted = static_cast<std::uint32_t>(copies.at(side).size());
    segments[segment].counted = std::move(copies.at(side));
  }
  params = next;
  params.entries += pair.gained;
  return true;
}

}  // namespace bloomery::detail
