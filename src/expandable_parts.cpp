#include <bloomery/detail/expandable_parts.hpp>

#include <cstring>
#include <limits>

#include <bloomery/detail/precondition.hpp>

namespace bloomery::detail {
namespace {

// Entries that match a key before its further copies are counted by hash: two strangers that match
// by chance do not yet cost a key sixteen bytes.
constexpr std::size_t most_copies_in_cell = 3;
// Keys of a segment whose copies are counted: a segment has at most 24,576 entries when it is
// split, three for each of them. Only chosen keys are more.
constexpr std::size_t most_counted = std::size_t{1} << 14;

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

bool is_deep(const expandable_params& params, std::uint64_t segment) noexcept {
  return segment < params.split || segment >= std::uint64_t{1} << params.level;
}
segment_shape shape_of(const expandable_params& params, std::uint64_t segment) noexcept {
  return {params.cell_bits, is_deep(params, segment) ? params.deep_slot_bits : params.slot_bits};
}

tl::unexpected<failure> no_memory() {
  return fail(errc::out_of_memory,
              "memory for the filter's segments could not be had; plan a smaller one, or use a "
              "machine with more memory");
}

tl::unexpected<failure> mismatch() {
  return fail(errc::corrupt, "the expandable filter's segments do not fit its parameters");
}

}  // namespace

std::uint64_t counted_of(std::span<const std::byte> list, std::size_t size, hash64 h) noexcept {
  const std::size_t i = lower_bound(list, size, h);
  if (i == size) return 0;
  const counted_copies found = copies_at(list, i);
  return found.hash == h.value ? found.copies : 0;
}

void owned_segments::relist(std::uint64_t segment) noexcept {
  list[segment].words = static_cast<std::uint32_t>(segments[segment].bytes.bytes().size() / 8);
}

result<owned_segments> owned_segments::empty(const expandable_params& plan) {
  try {
    owned_segments made;
    made.segments.reserve(plan.segments());
    made.list.resize(plan.segments());
    for (std::uint64_t i = 0; i < plan.segments(); ++i) {
      auto segment = segment_ops().empty(shape_of(plan, i), planned_area(plan, is_deep(plan, i)));
      if (!segment) return no_memory();
      made.segments.push_back({std::move(*segment), owned_storage()});
      made.relist(i);
    }
    return made;
  } catch (const std::exception&) {
    return no_memory();
  }
}

result<void> owned_segments::check(const expandable_params& params, std::uint64_t count) {
  std::uint64_t entries = 0;
  std::uint64_t counted = 0;
  for (std::uint64_t i = 0; i < segments.size(); ++i) {
    const auto here = segment_ops().check(shape_of(params, i), segments[i].bytes.bytes());
    if (!here) return mismatch();
    entries += *here;
    const auto copies = segments[i].counted.bytes();
    const std::size_t size = list[i].counted;
    for (std::size_t k = 0; k < size; ++k) {
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
    if (next->cell_bits != params.cell_bits) {
      auto wide =
          segment_ops().widen(shape_of(params, 0), segments[0].bytes.bytes(), next->slot_bits);
      if (!wide) return false;
      segments[0].bytes = std::move(wide->bytes);
      moved += segments[0].bytes.bytes().size();
      relist(0);
      params = *next;
      params.entries = wide->entries;
      return true;
    }
    const std::uint64_t from = params.split;
    const std::uint64_t to = segments.size();
    auto both = segment_ops().split(shape_of(params, from), segments[from].bytes.bytes(),
                                    next->split == 0 ? next->slot_bits : next->deep_slot_bits);
    if (!both) return false;
    // The counted copies: by the bit that now tells the two apart.
    const std::size_t size = list[from].counted;
    const auto counted = segments[from].counted.bytes();
    std::size_t moving = 0;
    for (std::size_t i = 0; i < size; ++i) moving += copies_at(counted, i).hash >> params.level & 1;
    auto stay = owned_storage::make((size - moving) * sizeof(counted_copies));
    auto go = owned_storage::make(moving * sizeof(counted_copies));
    if (!stay || !go) return false;
    if (to == segments.capacity()) segments.reserve(2 * to);
    list.resize(to + 1);
    std::byte* const into[2] = {stay->writable_bytes().data(), go->writable_bytes().data()};
    std::size_t filled[2] = {0, 0};
    for (std::size_t i = 0; i < size; ++i) {
      const counted_copies each = copies_at(counted, i);
      const std::size_t side = each.hash >> params.level & 1;
      store(into[side] + sizeof each * filled[side]++, each);
    }
    segments.push_back({std::move(both->second), std::move(*go)});
    segments[from] = {std::move(both->first), std::move(*stay)};
    list[from].counted = static_cast<std::uint32_t>(size - moving);
    list[to].counted = static_cast<std::uint32_t>(moving);
    relist(from);
    relist(to);
    moved += segments[from].bytes.bytes().size() + segments[to].bytes.bytes().size();
    params = *next;
    params.entries += both->gained;
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
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
  if (size == most_counted) return false;
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

insert_outcome owned_segments::insert(expandable_params& params, hash64 h) noexcept {
  const segment_place at = place_of(params, h);
  const bool counted =
      list[at.segment].counted != 0 &&
      counted_of(segments[at.segment].counted.bytes(), list[at.segment].counted, h) != 0;
  // Growth that could not be had: no more than a quarter over.
  const bool is_full = params.entries > params.most_entries() + params.most_entries() / 4;
  const insert_result done =
      segment_ops().insert({params.cell_bits, at.slot_bits}, segments[at.segment].bytes, at.cell,
                           at.rest, is_full ? 0 : most_copies_in_cell, moved);
  const insert_outcome outcome =
      done.matching != 0 || counted ? insert_outcome::maybe_present : insert_outcome::inserted;
  if (!done.placed) {
    const bool to_count = done.matching >= most_copies_in_cell;
    return to_count && count_copy(at.segment, h) ? outcome : insert_outcome::full;
  }
  relist(at.segment);
  ++params.entries;
  // Where it cannot be done, the next insert tries again, until there are a quarter too many.
  if (params.entries > params.most_entries()) (void)grow(params);
  return outcome;
}

bool owned_segments::erase(expandable_params& params, hash64 h) noexcept {
  const segment_place at = place_of(params, h);
  if (list[at.segment].counted != 0 && uncount_copy(at.segment, h)) return true;
  if (!segment_ops().erase({params.cell_bits, at.slot_bits}, segments[at.segment].bytes, at.cell,
                           at.rest)) {
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
  const std::uint64_t before = moved;
  *this = {};
  *this = or_die(empty(plan));
  moved = before;
  params = plan;
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
  // It has grown from the filter that its capacity and rate plan, or is that.
  const auto plan = plan_expandable({.capacity = params.capacity,
                                     .fpr = params.fpr,
                                     .bits = 0,
                                     .growth = params.growth,
                                     .seed = params.seed});
  if (!plan || plan->segment_cell_bits != params.segment_cell_bits ||
      plan->cells() > params.cells()) {
    return mismatch();
  }
  std::vector<segment_extent> extents;
  extents.reserve(n);
  std::size_t at = n * sizeof(segment_entry);
  std::uint64_t copies = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t size = std::uint64_t{entry(i).words} * 8;
    const std::uint64_t counted = entry(i).counted * sizeof(counted_copies);
    if (size < shape_of(params, i).least_bytes() || size > payload.size() - at ||
        counted > payload.size() - at - size) {
      return mismatch();
    }
    extents.push_back({at, size, at + size, counted});
    at += size + counted;
    copies += entry(i).counted;
  }
  if (at != payload.size() || copies > count) return mismatch();
  return extents;
}

}  // namespace bloomery::detail
