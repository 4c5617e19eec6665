// vq_insert with the verbs of an instruction set: `look_up(block)` looks for the tag in a block,
// and `insert(block, end)` inserts it behind its bucket's run.
template <class LookUp, class Insert>
[[gnu::always_inline]] inline insert_outcome vq_insert_with(const vq_layout& layout,
                                                            const vq_writer& filter,
                                                            const vector_quotient_place& at,
                                                            LookUp&& look_up, Insert&& insert) {
  std::byte* const first = layout.block(filter.blocks, at.first);
  std::byte* const second = layout.block(filter.blocks, at.second);
  const vq_lookup a = look_up(first);
  const vq_lookup b = look_up(second);
  const unsigned present = a.copies + (first == second ? 0 : b.copies);
  const bool is_first = a.taken <= b.taken;
  if (present != 0 || vq_choose(is_first, a.taken, b.taken) >= layout.slots() ||
      *filter.stashed != 0) [[unlikely]] {
    return vq_insert_slow(filter, vector_quotient_place(at), present);
  }
  insert(layout.block(filter.blocks, vq_choose(is_first, at.first, at.second)),
         static_cast<unsigned>(vq_choose(is_first, a.end, b.end)));
  ++*filter.count;
  return insert_outcome::inserted;
}
