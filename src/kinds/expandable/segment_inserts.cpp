// Inserts and erases of one key in an expandable filter's segments.

#include <algorithm>
#include <exception>

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

std::size_t owned_segments::insert_run(expandable_params& params,
                                       std::span<const segment_query> queries,
                                       insert_summary& summary) noexcept {
  const std::uint64_t max = params.max_entries();
  if (counts_copies || params.entries >= max) return 0;
  queries = queries.first(std::min<std::uint64_t>(queries.size(), max - params.entries));
  std::uint64_t newly_inserted = 0;
  const std::size_t run = segment_ops().insert_run(params.cell_bits, queries, max_copies_in_cell,
                                                   newly_inserted, moved);
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

}  // namespace bloomery::detail
