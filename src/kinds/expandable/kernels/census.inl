// Counts the entries of a segment that no other of their cell covers. Reads no other bytes,
// whatever the segment's are. Included behind build.inl.

segment_census census(const segment_shape& shape, std::span<const std::byte> segment) noexcept {
  const segment_view view(shape, segment);
  segment_census found;
  std::array<std::uint64_t, max_compared> entries;  // of a cell; only the first `size` are read
  std::size_t size = 0;
  const auto count = [&](std::uint64_t entry) noexcept {
    ++found.uncovered[static_cast<std::size_t>(std::bit_width(entry)) - 1];
  };
  // True if another entry is a prefix of this one, or is equal and comes before it.
  const auto is_covered = [&](std::size_t i) noexcept {
    for (std::size_t k = 0; k < size; ++k) {
      if (entries[k] == entries[i] ? k < i : covers(entries[k], entries[i])) return true;
    }
    return false;
  };
  const auto end_cell = [&]() noexcept {
    for (std::size_t i = 0; i < size; ++i) {
      if (!is_covered(i)) count(entries[i]);
    }
    size = 0;
  };
  std::size_t last_end = 0;
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    const std::size_t begin = view.block_offset(b);
    const std::size_t end = view.block_offset(b + 1);
    // Blocks of damaged files may overlap, and would be read many times.
    if (begin < last_end || !view.is_inside(begin, end)) continue;
    last_end = end;
    unsigned current = 0;
    for_block(shape, view.area(), begin, end, [&](unsigned cell, std::uint64_t entry) noexcept {
      if (cell != current) end_cell();
      current = cell;
      if (entry == 0) return;
      found.whole_cells += entry == 1;
      if (size == max_compared) return count(entry);
      entries[size++] = entry;
    });
    end_cell();
  }
  return found;
}
