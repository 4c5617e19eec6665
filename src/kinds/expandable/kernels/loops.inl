// The operations on segments (segment_kernels.hpp), once for each instruction set. Included behind
// bits.inl, into a namespace that also has push_slot:
//
//     edit.inl     insert, erase, layout
//     build.inl    split and widen; a segment from and to a list of entries
//     merge.inl    a segment and the keys of a large batch
//     check.inl    the form of a segment from outside
//     census.inl   what its entries match

#include "kinds/expandable/kernels/edit.inl"

#include "kinds/expandable/kernels/build.inl"

#include "kinds/expandable/kernels/merge.inl"

#include "kinds/expandable/kernels/check.inl"

#include "kinds/expandable/kernels/census.inl"

void prefetch(unsigned cell_bits, std::span<const segment_query> queries) noexcept {
  for (const segment_query& q : queries) {
    segment_view({cell_bits, q.slot_bits}, q.segment()).prefetch_block(q.cell);
  }
}

void prefetch_to_insert(unsigned cell_bits, std::span<const segment_query> queries) noexcept {
  for (const segment_query& q : queries) {
    segment_view({cell_bits, q.slot_bits}, q.segment()).prefetch_near(q.cell);
  }
}

bool contains(unsigned cell_bits, const segment_query& q) noexcept {
  return segment_view({cell_bits, q.slot_bits}, q.segment()).contains(q.cell, q.remainder);
}

void contains_batch(unsigned cell_bits, std::span<const segment_query> queries,
                    std::span<const segment_query> to_prefetch, bool* answers) noexcept {
  for (std::size_t i = 0; i < queries.size(); ++i) {
    if (i < to_prefetch.size()) prefetch(cell_bits, to_prefetch.subspan(i, 1));
    answers[i] = contains(cell_bits, queries[i]);
  }
  if (queries.size() < to_prefetch.size()) prefetch(cell_bits, to_prefetch.subspan(queries.size()));
}

constexpr segment_kernels kernels = {.empty = empty,
                                     .insert = insert,
                                     .insert_run = insert_run,
                                     .plan_layout = plan_layout,
                                     .lay_out = lay_out,
                                     .erase = erase,
                                     .split = rebuild<4>,
                                     .widen = rebuild<2>,
                                     .merge = merge,
                                     .list = list,
                                     .build = build,
                                     .check = check,
                                     .census = census,
                                     .prefetch = prefetch,
                                     .prefetch_to_insert = prefetch_to_insert,
                                     .contains_batch = contains_batch,
                                     .contains = contains};
