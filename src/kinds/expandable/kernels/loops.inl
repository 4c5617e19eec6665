// What is done with a segment (segment.hpp), once for each instruction set. Included into a
// namespace that has select_one, count_ones and, behind segment_bits.inl, what writes bits in the
// fastest way there is: push_slot, store_code, open_gap and copy_bytes:
//
//     segment_bits.inl    moves bits by words; the code of a block
//     segment_edit.inl    insert, erase, and a segment laid out anew
//     segment_build.inl   one segment becomes two, or a wider one
//     segment_merge.inl   the same with the keys of a batch, in one pass
//     segment_unite.inl   the same with the entries of another filter
//     segment_scan.inl    the check of a segment from outside, and its entries

#include "kinds/expandable/kernels/edit.inl"

#include "kinds/expandable/kernels/build.inl"

#include "kinds/expandable/kernels/merge.inl"

#include "kinds/expandable/kernels/unite.inl"

#include "kinds/expandable/kernels/scan.inl"

void fetch(unsigned cell_bits, std::span<const segment_query> queries) noexcept {
  for (const segment_query& q : queries) {
    segment_view({cell_bits, q.slot_bits}, q.segment()).prefetch_block(q.cell);
  }
}

void fetch_to_insert(unsigned cell_bits, std::span<const segment_query> queries) noexcept {
  for (const segment_query& q : queries) {
    segment_view({cell_bits, q.slot_bits}, q.segment()).prefetch_near(q.cell);
  }
}

bool holds(unsigned cell_bits, const segment_query& q) noexcept {
  const segment_shape shape{cell_bits, q.slot_bits};
  const std::size_t b = q.cell / block_cells;
  const auto cell = static_cast<unsigned>(q.cell % block_cells);
  const segment_view view(shape, q.segment());
  const std::size_t begin = view.start(b);
  const std::size_t end = view.start(b + 1);
  if (view.is_inside(begin, end)) [[likely]] {
    if (const auto run = block_code(view.area() + begin).run(cell)) [[likely]] {
      if ((run->first + run->size) * q.slot_bits > 8 * end) return false;
      return matching_entries(view.area(), 8 * end - run->first * q.slot_bits, q.slot_bits,
                              run->size, q.rest) != 0;
    }
  }
  return view.holds(q.cell, q.rest);
}

void ask(unsigned cell_bits, std::span<const segment_query> queries,
         std::span<const segment_query> to_fetch, bool* answers) noexcept {
  for (std::size_t i = 0; i < queries.size(); ++i) {
    if (i < to_fetch.size()) fetch(cell_bits, to_fetch.subspan(i, 1));
    answers[i] = holds(cell_bits, queries[i]);
  }
  if (queries.size() < to_fetch.size()) fetch(cell_bits, to_fetch.subspan(queries.size()));
}

constexpr segment_kernels loops = {empty,  insert, insert_run,      plan_layout, lay_out, erase,
                                   split,  widen,  merge,           list,        unite,   check,
                                   census, fetch,  fetch_to_insert, ask,         holds};
