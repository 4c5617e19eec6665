// The entries of a segment as a list, and a segment with the entries of a list. Included behind
// merge.inl.

void list(const segment_shape& shape, std::span<const std::byte> segment,
          std::vector<cell_entry>& to) {
  const block_list own(shape, segment.data());
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    for_block(shape, own.area(), own.block_offset(b), own.block_offset(b + 1),
              [&](unsigned cell, std::uint64_t entry) {
                to.push_back({static_cast<std::uint32_t>(b * block_cells + cell), entry});
              });
  }
}

std::optional<built_segment> unite(const segment_shape& shape, std::span<const std::byte> segment,
                                   std::span<const cell_entry> others) noexcept {
  try {
    const block_list own(shape, segment.data());
    std::vector<std::size_t> ends(shape.blocks());
    std::size_t used = 0;
    std::size_t next_other = 0;
    for (std::size_t b = 0; b < shape.blocks(); ++b) {
      const std::size_t first = next_other;
      while (next_other < others.size() && others[next_other].cell / block_cells == b) ++next_other;
      ends[b] = next_other;
      used += own.used(own.entries(b) + next_other - first);
    }
    const segment_shape united = merged_shape(shape, shape.slot_bits);
    const std::size_t gaps = used / united.gaps.share;
    builder made(united, shape.blocks(), used + gaps,
                 gaps_to_keep(used + gaps, own.block_offset(shape.blocks())));
    const cell_entry* next = others.data();
    for (std::size_t b = 0; b < shape.blocks(); ++b) {
      const cell_entry* const end = others.data() + ends[b];
      made.reserve(own.entries(b) + static_cast<std::size_t>(end - next));
      const auto add_others = [&](std::size_t before) noexcept {
        for (; next != end && next->cell < before; ++next) {
          made.add(next->cell % block_cells, next->entry);
        }
      };
      for_block(shape, own.area(), own.block_offset(b), own.block_offset(b + 1),
                [&](unsigned cell, std::uint64_t entry) noexcept {
                  add_others(b * block_cells + cell);
                  made.add(cell, entry);
                });
      add_others((b + 1) * block_cells);
      made.end_block();
    }
    return built_segment{made.take(), {}};
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}
