// The operations on segments (segment_kernels.hpp), once for each instruction set. Included behind
// bits.inl, into a namespace that also has push_slot and copy_bytes:
//
//     edit.inl     insert, erase, layout
//     build.inl    split and widen
//     merge.inl    a segment and the keys of a large batch
//     unite.inl    a segment and the entries of another filter
//     check.inl    the form of a segment from outside
//     census.inl   what its entries match

#include "kinds/expandable/kernels/edit.inl"

#include "kinds/expandable/kernels/build.inl"

#include "kinds/expandable/kernels/merge.inl"

#include "kinds/expandable/kernels/unite.inl"

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
  const segment_shape shape{cell_bits, q.slot_bits};
  const std::size_t b = q.cell / block_cells;
  const auto cell = static_cast<unsigned>(q.cell % block_cells);
  const segment_view view(shape, q.segment());
  const std::size_t begin = view.block_offset(b);
  const std::size_t end = view.block_offset(b + 1);
  if (view.is_inside(begin, end)) [[likely]] {
    if (const auto run = block_code(view.area() + begin).run(cell)) [[likely]] {
      if ((run->first + run->size) * q.slot_bits > 8 * end) return false;
      return matching_entries(view.area(), 8 * end - run->first * q.slot_bits, q.slot_bits,
                              run->size, q.remainder) != 0;
    }
  }
  return view.contains(q.cell, q.remainder);
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
                                     .split = split,
                                     .widen = widen,
                                     .merge = merge,
                                     .list = list,
                                     .unite = unite,
                                     .check = check,
                                     .census = census,
                                     .prefetch = prefetch,
                                     .prefetch_to_insert = prefetch_to_insert,
                                     .contains_batch = contains_batch,
                                     .contains = contains};
