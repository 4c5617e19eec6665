// Inserts and erases of one key in an expandable filter's segments.

#include <algorithm>
#include <cstring>
#include <utility>

#include <bloomery/detail/core/bits.hpp>
#include <bloomery/detail/expandable/owned_segments.hpp>

namespace bloomery::detail {

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

// `max_copies` matching entries prevent the insert; further copies are counted, unless it is 1.
insert_outcome owned_segments::insert_up_to(std::size_t max_copies, expandable_params& params,
                                            hash64 h, segment_place at) noexcept {
  const auto is_over = [&]() noexcept {
    return params.entries > params.max_entries() && params.entries > params.entries_limit();
  };
  bool is_full = is_over();
  if (is_full && grow(params)) [[unlikely]] {
    at = place_of(params, h);
    is_full = is_over();
  }
  const bool is_counted =
      counts_copies && list[at.segment].counted != 0 && counted_in(at.segment, h) != 0;
  if (is_counted && max_copies == 1) return insert_outcome::maybe_present;
  const segment_shape shape{params.cell_bits, at.slot_bits, gaps_for(params.growth)};
  const auto try_insert = [&]() noexcept {
    return segment_ops().insert(shape, segments[at.segment].bytes.writable_bytes(), at.cell,
                                at.remainder, is_full ? 0 : max_copies, moved);
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

bool owned_segments::erase(expandable_params& params, hash64 h, const segment_place& at) noexcept {
  if (counts_copies && list[at.segment].counted != 0 && uncount_copy(at.segment, h)) return true;
  if (!segment_ops().erase({params.cell_bits, at.slot_bits},
                           segments[at.segment].bytes.writable_bytes(), at.cell, at.remainder)) {
    return false;
  }
  --params.entries;
  return true;
}

}  // namespace bloomery::detail
