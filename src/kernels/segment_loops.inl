// What is done with a segment (segment.hpp), once for each instruction set. Included into a
// namespace that has select_one, count_ones and, behind segment_bits.inl, push_slot:
//
//     segment_bits.inl    moves bits by words; the code of a block
//     segment_edit.inl    insert, erase, and a segment laid out anew
//     segment_build.inl   one segment becomes two, or a wider one
//     segment_scan.inl    the check of a segment from outside, and its rate

#include "kernels/segment_edit.inl"

#include "kernels/segment_build.inl"

#include "kernels/segment_scan.inl"

void fetch(unsigned cell_bits, std::span<const segment_query> queries) noexcept {
  for (const segment_query& q : queries) {
    segment_view({cell_bits, q.slot_bits}, q.segment).prefetch_block(q.cell);
  }
}

bool holds(unsigned cell_bits, const segment_query& q) noexcept {
  return segment_view({cell_bits, q.slot_bits}, q.segment).holds(q.cell, q.rest);
}

void ask(unsigned cell_bits, std::span<const segment_query> queries, bool* answers) noexcept {
  fetch(cell_bits, queries);
  for (std::size_t i = 0; i < queries.size(); ++i) answers[i] = holds(cell_bits, queries[i]);
}

constexpr segment_kernels loops = {empty, insert, plan_layout, lay_out, erase, split,
                                   widen, check,  rate,        fetch,   ask,   holds};
