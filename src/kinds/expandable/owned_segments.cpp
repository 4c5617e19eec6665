// An expandable filter's segments: made, copied, cleared and moved.

#include <bloomery/detail/expandable/owned_segments.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include <bloomery/detail/core/bits.hpp>
#include <bloomery/detail/core/precondition.hpp>

#include "core/pages.hpp"

namespace bloomery::detail {

owned_segments::owned_segments(const owned_segments& other)
    : list(other.list), moved(other.moved), counts_copies(other.counts_copies) {
  segments.reserve(other.segments.size());
  for (const owned_segment& each : other.segments) {
    const auto from = each.bytes.bytes();
    auto place = arena_.make(from.size(), paging::huge);
    if (!place) throw std::bad_alloc();
    std::ranges::copy(from, place->writable_bytes().begin());
    segments.push_back({*place, each.counted});
  }
}

owned_segments& owned_segments::operator=(const owned_segments& other) {
  if (this != &other) *this = owned_segments(other);
  return *this;
}

result<owned_segments> owned_segments::copy_of(std::span<const std::byte> payload,
                                               std::span<const segment_extent> extents) {
  try {
    owned_segments made;
    made.segments.reserve(extents.size());
    for (const segment_extent& each : extents) {
      if (each.size > max_segment_bytes) return segment_mismatch();
      auto place = made.arena_.make(each.size, paging::huge);
      auto counted = owned_storage::copy_of(payload.subspan(each.counted_at, each.counted_size));
      if (!place || !counted) return no_segment_memory();
      std::ranges::copy(payload.subspan(each.at, each.size), place->writable_bytes().begin());
      made.segments.push_back({*place, std::move(*counted)});
    }
    return made;
  } catch (const std::exception&) {
    return no_segment_memory();
  }
}

// Gives a segment a new place and frees the old one.
void owned_segments::put(std::uint64_t segment, const arena_bytes& place) noexcept {
  arena_.give_back(segments[segment].bytes);
  segments[segment].bytes = place;
  list[segment].words = static_cast<std::uint32_t>(place.bytes().size() / 8);
  moved += place.bytes().size();
  ++changes;
}

result<owned_segments> owned_segments::empty(const expandable_params& plan) {
  // Segments are allocated and written one by one. Without this check a plan that is too large
  // would be refused only after it had used up the machine's memory.
  if (planned_bytes(plan) > machine_bytes()) return no_segment_memory();
  auto made = try_empty(plan);
  if (!made) return no_segment_memory();
  return std::move(*made);
}

std::optional<owned_segments> owned_segments::try_empty(const expandable_params& plan) noexcept {
  try {
    owned_segments made;
    made.segments.reserve(plan.segments());
    made.list.resize(plan.segments());
    for (std::uint64_t i = 0; i < plan.segments(); ++i) {
      const segment_shape shape = shape_of(plan, i);
      const std::size_t area = planned_area(plan, is_split(plan, i));
      auto place = made.arena_.make(shape.stored_bytes(area), paging::huge);
      if (!place) return std::nullopt;
      segment_ops().empty(shape, area, place->writable_bytes());
      made.segments.emplace_back();
      made.put(i, *place);
    }
    made.moved = 0;
    return made;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

bool owned_segments::put_built(const segment_shape& shape, std::uint64_t segment,
                               const built_segment& built) noexcept {
  const auto size = built.stored_bytes(shape);
  auto place = size ? arena_.make(*size, pages_) : std::nullopt;
  if (!place) return false;
  built.write(shape, place->writable_bytes());
  put(segment, *place);
  return true;
}

void owned_segments::clear(expandable_params& params) noexcept {
  const expandable_params plan = or_die(plan_expandable({.capacity = params.capacity,
                                                         .fpr = params.fpr,
                                                         .bits = 0,
                                                         .growth = params.growth,
                                                         .seed = params.seed}));
  auto made = try_empty(plan);
  if (!made) {
    empty_in_place(params);
    return;
  }
  const std::uint64_t moved_before = moved;
  const std::uint64_t changes_before = changes;
  *this = std::move(*made);
  moved = moved_before;
  changes += changes_before;
  params = plan;
}

// Erases all entries and keeps the size.
void owned_segments::empty_in_place(expandable_params& params) noexcept {
  for (std::uint64_t i = 0; i < segments.size(); ++i) {
    const segment_shape shape = shape_of(params, i);
    const auto bytes = segments[i].bytes.writable_bytes();
    const std::size_t area = load<std::uint16_t>(bytes.data() + shape.offset_bytes() - 2);
    segment_ops().empty(shape, area, bytes);
    segments[i].counted = {};
    list[i].counted = 0;
  }
  counts_copies = false;
  params.entries = 0;
}

void owned_segments::relocate(const memory_mover& mover) noexcept {
  arena_.relocate(mover);
  for (owned_segment& each : segments) {
    arena_.refresh(each.bytes);
    each.counted.relocate(mover);
  }
}

}  // namespace bloomery::detail
