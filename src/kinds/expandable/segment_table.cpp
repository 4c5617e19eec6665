#include <bloomery/detail/expandable/segment_table.hpp>

#include <cmath>
#include <cstring>
#include <limits>

#include <bloomery/detail/core/precondition.hpp>
#include <bloomery/plan/formulas.hpp>

#include "core/pages.hpp"

namespace bloomery::detail {
namespace {

counted_copies copies_at(std::span<const std::byte> list, std::size_t i) noexcept {
  return load<counted_copies>(list.data() + i * sizeof(counted_copies));
}

/// The first of the list that is not below the hash.
std::size_t lower_bound(std::span<const std::byte> list, std::size_t size, hash64 h) noexcept {
  std::size_t first = 0;
  while (size != 0) {
    const std::size_t half = size / 2;
    if (copies_at(list, first + half).hash < h.value) {
      first += half + 1;
      size -= half + 1;
    } else {
      size = half;
    }
  }
  return first;
}

tl::unexpected<failure> mismatch() {
  return fail(errc::corrupt, "the expandable filter's segments do not fit its parameters");
}

}  // namespace

tl::unexpected<failure> no_segment_memory() noexcept {
  return no_memory(
      "memory for the filter's segments could not be had; plan a smaller one, or use a machine "
      "with more memory");
}

std::uint64_t counted_of(std::span<const std::byte> list, std::size_t size, hash64 h) noexcept {
  const std::size_t i = lower_bound(list, size, h);
  if (i == size) return 0;
  const counted_copies found = copies_at(list, i);
  return found.hash == h.value ? found.copies : 0;
}

double copies_counted(std::span<const std::byte> list, std::size_t size) noexcept {
  double all = 0;
  for (std::size_t i = 0; i < size; ++i) all += static_cast<double>(copies_at(list, i).copies);
  return all;
}

double segment_census::rate(unsigned cell_bits) const noexcept {
  double cells = 0;
  for (std::size_t r = uncovered.size(); r-- > 0;) {
    cells += std::ldexp(static_cast<double>(uncovered[r]), -static_cast<int>(r));
  }
  return std::min(1.0, std::ldexp(cells, -static_cast<int>(cell_bits)));
}

segment_census::key_estimate segment_census::keys(unsigned cell_bits) const noexcept {
  key_estimate all{};
  double free_cells = std::ldexp(1.0, static_cast<int>(cell_bits));
  for (std::size_t r = 0; r < uncovered.size(); ++r) {
    if (uncovered[r] == 0) continue;
    const auto entries = static_cast<double>(uncovered[r]);
    (r == 0 ? all.seen_in_whole_cells : all.seen_in_others) += entries;
    (r == 0 ? all.of_whole_cells : all.others) +=
        formulas::throws_behind(entries, std::ldexp(free_cells, static_cast<int>(r))) *
        std::ldexp(1.0, static_cast<int>(cell_bits)) / free_cells;
    free_cells = std::max(0.0, free_cells - std::ldexp(entries, -static_cast<int>(r)));
  }
  return all;
}

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
      if (each.size > max_segment_bytes) return mismatch();
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

// A segment's new place; the old one is given back.
void owned_segments::put(std::uint64_t segment, const arena_bytes& place) noexcept {
  arena_.give_back(segments[segment].bytes);
  segments[segment].bytes = place;
  list[segment].words = static_cast<std::uint32_t>(place.bytes().size() / 8);
  moved += place.bytes().size();
  ++changes;
}

result<owned_segments> owned_segments::empty(const expandable_params& plan) {
  // Segments are allocated and written one by one: without this check a plan that is too large
  // would take all memory there is before it is refused.
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
      const std::size_t area = planned_area(plan, is_deep(plan, i));
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

result<void> check_segments(const expandable_params& params, const segment_spans& all,
                            std::uint64_t count) {
  std::uint64_t entries = 0;
  std::uint64_t counted = 0;
  for (std::uint64_t i = 0; i < all.bytes.size(); ++i) {
    const auto here = segment_ops().check(shape_of(params, i), all.bytes[i]);
    if (!here) return mismatch();
    entries += *here;
    const auto copies = all.counted[i];
    for (std::size_t k = 0; k < copies.size() / sizeof(counted_copies); ++k) {
      const counted_copies each = copies_at(copies, k);
      const bool in_order = k == 0 || copies_at(copies, k - 1).hash < each.hash;
      if (!in_order || place_of(params, {each.hash}).segment != i || each.copies == 0 ||
          each.copies > count - counted) {
        return mismatch();
      }
      counted += each.copies;
    }
  }
  // Entries that were copied to two cells count twice, and stay when one of them is erased: there
  // may be more than keys, not fewer.
  if (entries != params.entries || entries < count - counted) return mismatch();
  return {};
}

bool owned_segments::grow(expandable_params& params) noexcept {
  const auto next = params.grown();
  if (!next) return false;
  try {
    return next->cell_bits != params.cell_bits ? widen(params, *next) : split(params, *next);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

bool owned_segments::widen(expandable_params& params, const expandable_params& next) noexcept {
  const auto wide =
      segment_ops().widen(shape_of(params, 0), segments[0].bytes.bytes(), next.slot_bits);
  if (!wide) return false;
  const segment_shape shape = shape_of(next, 0);
  const auto size = wide->stored_bytes(shape);
  auto place = size ? arena_.make(*size, pages_) : std::nullopt;
  if (!place) return false;
  wide->write(shape, place->writable_bytes());
  put(0, *place);
  params = next;
  params.entries = wide->entries();
  return true;
}

bool owned_segments::split(expandable_params& params, const expandable_params& next) {
  const std::uint64_t from = params.split;
  const unsigned slot_bits = next.split == 0 ? next.slot_bits : next.deep_slot_bits;
  const auto split_with = [&](const gap_plan& gaps) {
    segment_shape shape = shape_of(params, from);
    shape.gaps = gaps;
    const auto both = segment_ops().split(shape, segments[from].bytes.bytes(), slot_bits);
    return both && put_pair(params, next, *both);
  };
  // Chosen keys may all come to one of the two.
  return split_with(gaps_for(params.growth)) || split_with(no_gaps);
}

// Puts what the next segment to be split has become in its place. Nothing has changed if that
// cannot be, or throws.
bool owned_segments::put_pair(expandable_params& params, const expandable_params& next,
                              const segment_pair& both) {
  const std::uint64_t from = params.split;
  const std::uint64_t to = segments.size();
  const segment_shape shape{params.cell_bits,
                            next.split == 0 ? next.slot_bits : next.deep_slot_bits};
  const auto first_size = both.first.stored_bytes(shape);
  const auto second_size = both.second.stored_bytes(shape);
  if (!first_size || !second_size) return false;
  // The counted copies: by the bit that now tells the two apart.
  const std::size_t size = list[from].counted;
  const auto counted = segments[from].counted.bytes();
  std::size_t moving = 0;
  for (std::size_t i = 0; i < size; ++i) moving += copies_at(counted, i).hash >> params.level & 1;
  auto stay = owned_storage::make((size - moving) * sizeof(counted_copies));
  auto go = owned_storage::make(moving * sizeof(counted_copies));
  if (!stay || !go) return false;
  if (to == segments.capacity()) segments.reserve(2 * to);
  if (to == list.capacity()) list.reserve(2 * to);
  auto first = arena_.make(*first_size, pages_);
  if (!first) return false;
  auto second = arena_.make(*second_size, pages_);
  if (!second) {
    arena_.give_back(*first);
    return false;
  }
  both.first.write(shape, first->writable_bytes());
  both.second.write(shape, second->writable_bytes());
  const std::array into{stay->writable_bytes().data(), go->writable_bytes().data()};
  std::array<std::size_t, 2> filled{};
  for (std::size_t i = 0; i < size; ++i) {
    const counted_copies each = copies_at(counted, i);
    const std::size_t side = each.hash >> params.level & 1;
    store(into.at(side) + sizeof each * filled.at(side)++, each);
  }
  segments.emplace_back();
  list.emplace_back();
  put(from, *first);
  put(to, *second);
  segments[from].counted = std::move(*stay);
  segments[to].counted = std::move(*go);
  list[from].counted = static_cast<std::uint32_t>(size - moving);
  list[to].counted = static_cast<std::uint32_t>(moving);
  params = next;
  params.entries += both.gained;
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

bool owned_segments::count_copy(std::uint64_t segment, hash64 h) noexcept {
  owned_storage& copies = segments[segment].counted;
  std::uint32_t& size = list[segment].counted;
  const std::size_t at = lower_bound(copies.bytes(), size, h);
  if (at < size && copies_at(copies.bytes(), at).hash == h.value) {
    counted_copies each = copies_at(copies.bytes(), at);
    ++each.copies;
    store(copies.writable_bytes().data() + at * sizeof each, each);
    return true;
  }
  if (size == max_counted) return false;
  if (size == copies.bytes().size() / sizeof(counted_copies)) {
    auto more = owned_storage::make(sizeof(counted_copies) * (size + size / 8 + 4));
    if (!more) return false;
    std::ranges::copy(copies.bytes(), more->writable_bytes().begin());
    copies = std::move(*more);
  }
  std::byte* const place = copies.writable_bytes().data() + at * sizeof(counted_copies);
  std::memmove(place + sizeof(counted_copies), place, (size - at) * sizeof(counted_copies));
  store(place, counted_copies{h.value, 1});
  ++size;
  counts_copies = true;
  return true;
}

bool owned_segments::uncount_copy(std::uint64_t segment, hash64 h) noexcept {
  owned_storage& copies = segments[segment].counted;
  std::uint32_t& size = list[segment].counted;
  const std::size_t at = lower_bound(copies.bytes(), size, h);
  if (at == size || copies_at(copies.bytes(), at).hash != h.value) return false;
  std::byte* const place = copies.writable_bytes().data() + at * sizeof(counted_copies);
  auto each = load<counted_copies>(place);
  --each.copies;
  store(place, each);
  if (each.copies != 0) return true;
  std::memmove(place, place + sizeof each, (size - at - 1) * sizeof each);
  --size;
  store(copies.writable_bytes().data() + size * sizeof each, counted_copies{0, 0});
  return true;
}

insert_outcome owned_segments::insert_up_to(std::size_t copies, expandable_params& params, hash64 h,
                                            segment_place at) noexcept {
  const auto is_over = [&]() noexcept {
    return params.entries > params.max_entries() && params.entries > params.entries_limit();
  };
  bool is_full = is_over();
  if (is_full && grow(params)) [[unlikely]] {
    at = place_of(params, h);
    is_full = is_over();
  }
  const bool counted =
      counts_copies && list[at.segment].counted != 0 &&
      counted_of(segments[at.segment].counted.bytes(), list[at.segment].counted, h) != 0;
  if (counted && copies == 1) return insert_outcome::maybe_present;
  const std::size_t most = is_full ? 0 : copies;
  const segment_shape shape{params.cell_bits, at.slot_bits, gaps_for(params.growth)};
  const auto& kernel = segment_ops();
  const auto try_insert = [&]() noexcept {
    return kernel.insert(shape, segments[at.segment].bytes.writable_bytes(), at.cell, at.rest, most,
                         moved);
  };
  insert_result done = try_insert();
  if (done.needed != 0) [[unlikely]] {
    if (!lay_out(shape, at.segment, at.cell / block_cells, done.needed)) {
      return insert_outcome::full;
    }
    done = try_insert();
  }
  const insert_outcome outcome =
      done.matching != 0 || counted ? insert_outcome::maybe_present : insert_outcome::inserted;
  if (!done.placed) {
    if (copies == 1 && done.matching != 0) return insert_outcome::maybe_present;
    const bool to_count = done.matching >= max_copies_in_cell;
    return to_count && count_copy(at.segment, h) ? outcome : insert_outcome::full;
  }
  ++params.entries;
  if (params.entries > params.max_entries()) [[unlikely]] {
    // Where it cannot be done, the next insert tries again, until there are too many. A first
    // segment that becomes a whole one is split at once.
    const bool widens = params.widens();
    if (grow(params) && widens && params.entries > params.max_entries()) (void)grow(params);
  }
  return outcome;
}

bool owned_segments::erase(expandable_params& params, hash64 h, const segment_place& at) noexcept {
  if (counts_copies && list[at.segment].counted != 0 && uncount_copy(at.segment, h)) return true;
  if (!segment_ops().erase({params.cell_bits, at.slot_bits},
                           segments[at.segment].bytes.writable_bytes(), at.cell, at.rest)) {
    return false;
  }
  --params.entries;
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

// Of the size that it has.
void owned_segments::empty_in_place(expandable_params& params) noexcept {
  for (std::uint64_t i = 0; i < segments.size(); ++i) {
    const segment_shape shape = shape_of(params, i);
    const auto bytes = segments[i].bytes.writable_bytes();
    const std::size_t area = load<std::uint16_t>(bytes.data() + shape.table_bytes() - 2);
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

result<std::vector<segment_extent>> read_segment_list(const expandable_params& params,
                                                      std::span<const std::byte> payload,
                                                      std::uint64_t count) {
  const std::uint64_t n = params.segments();
  if (n > payload.size() / sizeof(segment_entry)) return mismatch();
  if (params.entries > 8 * payload.size()) return mismatch();
  const auto entry = [&](std::uint64_t i) {
    return load<segment_entry>(payload.data() + i * sizeof(segment_entry));
  };
  // It has grown from the filter that its capacity and rate plan, or is that; in files from before
  // segments may be larger.
  const auto plan = plan_expandable({.capacity = params.capacity,
                                     .fpr = params.fpr,
                                     .bits = 0,
                                     .growth = params.growth,
                                     .seed = params.seed});
  if (!plan || plan->cells() > params.cells()) return mismatch();
  std::vector<segment_extent> extents;
  extents.reserve(n);
  std::size_t at = n * sizeof(segment_entry);
  std::uint64_t copies = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t size_said = std::uint64_t{entry(i).words} * 8;
    const std::uint64_t counted_said = std::uint64_t{entry(i).counted} * sizeof(counted_copies);
    if (size_said < shape_of(params, i).min_bytes() || size_said > payload.size() - at ||
        counted_said > payload.size() - at - size_said) {
      return mismatch();
    }
    const auto size = static_cast<std::size_t>(size_said);
    const auto counted = static_cast<std::size_t>(counted_said);
    extents.push_back({at, size, at + size, counted});
    at += size + counted;
    copies += entry(i).counted;
  }
  if (at != payload.size() || copies > count) return mismatch();
  return extents;
}

}  // namespace bloomery::detail
