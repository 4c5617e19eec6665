// An expandable filter's segments: made, copied, cleared, moved and grown; inserts and erases.

#include <bloomset/detail/expandable/owned_segments.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include <bloomset/detail/core/bits.hpp>
#include <bloomset/detail/core/precondition.hpp>

#include "core/system.hpp"

namespace bloomset::detail {

std::optional<std::size_t> built_segment::stored_bytes(const segment_shape& shape) const noexcept {
  const std::size_t area = low.size + high.size;
  if (area > max_segment_area) return std::nullopt;
  if (std::max(low.largest_block, high.largest_block) > max_block_entries) return std::nullopt;
  return shape.stored_bytes(area);
}

void built_segment::write(const segment_shape& shape, std::span<std::byte> to) const noexcept {
  std::byte* offset = to.data();
  store(offset, std::uint16_t{0});
  std::byte* const area = to.data() + shape.offset_bytes();
  std::size_t begin = 0;
  for (const built_half* half : {&low, &high}) {
    if (half->size == 0) continue;
    for (const std::size_t end : half->ends) {
      offset += 2;
      store(offset, static_cast<std::uint16_t>(begin + end));
    }
    std::memcpy(area + begin, half->area.data(), half->size);
    begin += half->size;
  }
  std::memset(area + begin, 0, to.size() - shape.offset_bytes() - begin);
}

owned_segments::owned_segments(const owned_segments& other)
    : list(other.list), counts_copies(other.counts_copies) {
  copy(spans_of(other.segments));
}

void owned_segments::copy(const segment_spans& all) {
  segments.reserve(all.size());
  for (const auto& [bytes, copies] : all) {
    auto place = arena_.make(bytes.size(), paging::huge);
    if (!place) throw std::bad_alloc();
    std::ranges::copy(bytes, place->writable_bytes().begin());
    auto& counted = segments.emplace_back(*place).counted;
    counted.resize(copies.size() / sizeof(counted_copies));
    std::ranges::copy(copies, std::as_writable_bytes(std::span(counted)).begin());
  }
}

// Gives a segment a new place and frees the old one.
void owned_segments::put(std::uint64_t segment, const arena_bytes& place) noexcept {
  arena_.give_back(segments[segment].bytes);
  segments[segment].bytes = place;
  list[segment].words = static_cast<std::uint32_t>(place.bytes().size() / 8);
  ++changes;
}

result<owned_segments> owned_segments::empty(const expandable_params& plan) noexcept try {
  // Segments are allocated and written one by one. Without this check a plan that is too large
  // would be refused only after it had used up the machine's memory.
  if (planned_bytes(plan) > machine_bytes()) return no_segment_memory();
  owned_segments made;
  made.segments.resize(plan.segments());
  made.list.resize(plan.segments());
  for (std::uint64_t i = 0; i < plan.segments(); ++i) {
    const segment_shape shape = shape_of(plan, i);
    const std::size_t area = planned_area(plan, is_split(plan, i));
    auto place = made.arena_.make(shape.stored_bytes(area), paging::huge);
    if (!place) return no_segment_memory();
    segment_ops().empty(shape, area, place->writable_bytes());
    made.put(i, *place);
  }
  return made;
} catch (const std::exception&) {
  return no_segment_memory();
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
  const expandable_params plan =
      or_die(plan_expandable({params.capacity, params.fpr, 0, params.growth, params.seed}));
  auto made = empty(plan);
  if (!made) return empty_in_place(params);
  made->changes += changes;
  *this = std::move(*made);
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
  for (owned_segment& each : segments) arena_.refresh(each.bytes);
}

// Growth by one step: the only segment gets twice the cells, or the next segment is split.
bool owned_segments::grow(expandable_params& params) noexcept try {
  const auto next = params.grown();
  if (!next) return false;
  if (params.is_fixed()) return lengthen(params, *next);
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

// Gives all segments longer slots. Changes nothing if it fails or throws.
bool owned_segments::lengthen(expandable_params& params, const expandable_params& next) {
  owned_segments made = *this;
  made.pages_ = pages_;
  made.changes = changes;
  std::vector<cell_entry> entries;
  for (std::uint64_t i = 0; i < segments.size(); ++i) {
    segment_ops().list(shape_of(params, i), segments[i].bytes.bytes(), entries);
    const segment_shape shape = shape_of(next, i);
    const auto built = segment_ops().build(shape, entries, 0);
    if (!built || !made.put_built(shape, i, *built)) return false;
  }
  *this = std::move(made);
  params = next;
  // A fixed filter's cells are fuller than those of one that grows.
  while (params.entries > params.max_entries()) {
    if (!grow(params)) return false;
  }
  return true;
}

// Replaces the next segment to be split by two. Changes nothing if it fails or throws.
bool owned_segments::put_pair(expandable_params& params, const expandable_params& next,
                              const segment_pair& pair) {
  const std::uint64_t from = params.split;
  const std::uint64_t to = segments.size();
  const segment_shape shape{params.cell_bits, next.newest_slot_bits()};
  std::array<source_vector<counted_copies>, 2> copies;
  for (const counted_copies& each : segments[from].counted) {
    copies.at(each.hash >> params.level & 1).push_back(each);
  }
  if (to == list.capacity()) list.reserve(2 * to);  // the second emplace_back() cannot throw
  segments.emplace_back();
  list.emplace_back();
  if (!put_built(shape, to, pair.second) || !put_built(shape, from, pair.first)) {
    arena_.give_back(segments.back().bytes);
    segments.pop_back();
    list.pop_back();
    return false;
  }
  for (const auto& [side, segment] : {std::pair{0U, from}, std::pair{1U, to}}) {
    list[segment].counted = static_cast<std::uint32_t>(copies.at(side).size());
    segments[segment].counted = std::move(copies.at(side));
  }
  params = next;
  params.entries += pair.gained;
  return true;
}

bool owned_segments::lay_out(const segment_shape& shape, std::uint64_t segment, std::size_t block,
                             std::size_t needed) noexcept {
  const auto& kernel = segment_ops();
  const auto from = segments[segment].bytes.bytes();
  segment_layout plan;
  if (!kernel.plan_layout(shape, from, needed, plan)) return false;
  auto place = arena_.make(plan.bytes, pages_);
  if (!place) return false;
  kernel.lay_out(shape, plan, block, from, place->writable_bytes());
  put(segment, *place);
  return true;
}

bool owned_segments::count_copy(std::uint64_t segment, hash64 h) noexcept try {
  source_vector<counted_copies>& copies = segments[segment].counted;
  if (copies.size() == copies.capacity()) copies.reserve(copies.size() + copies.size() / 8 + 4);
  const auto at = std::ranges::lower_bound(copies, h.value, {}, &counted_copies::hash);
  if (at != copies.end() && at->hash == h.value) {
    ++at->copies;
    return true;
  }
  if (copies.size() == max_counted) return false;
  copies.insert(at, {h.value, 1});
  ++list[segment].counted;
  counts_copies = true;
  return true;
} catch (const std::exception&) {
  return false;
}

bool owned_segments::uncount_copy(std::uint64_t segment, hash64 h) noexcept {
  source_vector<counted_copies>& copies = segments[segment].counted;
  const auto at = std::ranges::lower_bound(copies, h.value, {}, &counted_copies::hash);
  if (at == copies.end() || at->hash != h.value) return false;
  if (--at->copies == 0) {
    copies.erase(at);
    --list[segment].counted;
  }
  return true;
}

void owned_segments::prefetch_to_change(const expandable_params& params, hash64 h) const noexcept {
  const segment_place at = place_of(params, h);
  const segment_view view({params.cell_bits, at.slot_bits}, segments[at.segment].bytes.bytes());
  view.prefetch_likely<1>(at.cell);
}

insert_outcome owned_segments::insert(expandable_params& params, hash64 h,
                                      std::size_t max_copies) noexcept {
  const auto is_over = [&]() noexcept {
    return params.entries > params.max_entries() && params.entries > params.entries_limit();
  };
  bool is_full = is_over();
  if (is_full && grow(params)) [[unlikely]]
    is_full = is_over();
  const segment_place at = place_of(params, h);
  const bool is_counted = counts_copies && counted_of(segments[at.segment].copies(), h) != 0;
  if (is_counted && max_copies == 1) return insert_outcome::maybe_present;
  const segment_shape shape{params.cell_bits, at.slot_bits, gaps_for(params.growth)};
  const auto try_insert = [&]() noexcept {
    return segment_ops().insert(shape, segments[at.segment].bytes.writable_bytes(), at.cell,
                                at.remainder, is_full ? 0 : max_copies);
  };
  insert_result done = try_insert();
  if (done.needed != 0) [[unlikely]] {
    if (!lay_out(shape, at.segment, at.cell / block_cells, done.needed)) {
      return insert_outcome::full;
    }
    done = try_insert();
  }
  const insert_outcome outcome =
      done.matching != 0 || is_counted ? insert_outcome::maybe_present : insert_outcome::inserted;
  if (!done.placed) {
    if (max_copies == 1 && done.matching != 0) return insert_outcome::maybe_present;
    const bool to_count = done.matching >= max_copies_in_cell;
    return to_count && count_copy(at.segment, h) ? outcome : insert_outcome::full;
  }
  ++params.entries;
  if (params.entries > params.max_entries()) [[unlikely]] {
    // If growth fails, the next insert tries again, up to entries_limit(). A first segment that has
    // got all its cells is split at once.
    const bool widens = params.widens();
    if (grow(params) && widens && params.entries > params.max_entries()) (void)grow(params);
  }
  return outcome;
}

// NOLINTNEXTLINE(readability-make-member-function-const): it writes to the segments
std::size_t owned_segments::insert_run(expandable_params& params,
                                       std::span<const segment_query> queries,
                                       insert_summary& summary) noexcept {
  const std::uint64_t max = params.max_entries();
  if (counts_copies || params.entries >= max) return 0;
  queries = queries.first(std::min<std::uint64_t>(queries.size(), max - params.entries));
  std::uint64_t newly_inserted = 0;
  const std::size_t run =
      segment_ops().insert_run(params.cell_bits, queries, max_copies_in_cell, newly_inserted);
  params.entries += run;
  summary.done += run;
  summary.inserted += newly_inserted;
  summary.maybe_present += run - newly_inserted;
  return run;
}

bool owned_segments::erase(expandable_params& params, hash64 h) noexcept {
  const segment_place at = place_of(params, h);
  if (counts_copies && uncount_copy(at.segment, h)) return true;
  if (!segment_ops().erase({params.cell_bits, at.slot_bits},
                           segments[at.segment].bytes.writable_bytes(), at.cell, at.remainder)) {
    return false;
  }
  --params.entries;
  return true;
}

}  // namespace bloomset::detail
