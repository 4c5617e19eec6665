// Counts the entries of a segment that no other covers. Reads no other bytes, whatever the
// segment's are. Included behind build.inl.

// Counts the entries of a cell that no other entry of the cell covers.
class cell_entries {
 public:
  explicit cell_entries(segment_census& census) noexcept : census_(census) {}

  void add(std::uint64_t entry) noexcept {
    if (entry == 0) return;
    census_.whole_cells += entry == 1;
    if (size_ < compared) {
      entries_[size_++] = entry;
    } else {
      count(entry);
    }
  }
  void end_cell() noexcept {
    if (size_ == 1) [[likely]] {
      count(entries_[0]);
    } else {
      for (std::size_t i = 0; i < size_; ++i) {
        if (!is_covered(i)) count(entries_[i]);
      }
    }
    size_ = 0;
  }

 private:
  // Further entries of a cell, which takes chosen keys, count as uncovered.
  static constexpr std::size_t compared = 64;

  void count(std::uint64_t entry) noexcept { ++census_.uncovered[std::bit_width(entry) - 1]; }
  // True if another entry is a prefix of this one, or is equal and comes before it.
  bool is_covered(std::size_t i) const noexcept {
    const std::uint64_t marker = std::bit_floor(entries_[i]);
    for (std::size_t k = 0; k < size_; ++k) {
      const std::uint64_t other = std::bit_floor(entries_[k]);
      if (k != i && ((entries_[i] ^ entries_[k]) & (other - 1)) == 0 &&
          (other < marker || (other == marker && k < i))) {
        return true;
      }
    }
    return false;
  }

  segment_census& census_;
  std::array<std::uint64_t, compared> entries_;  // only the first size_ are read
  std::size_t size_ = 0;
};

segment_census census(const segment_shape& shape, std::span<const std::byte> segment) noexcept {
  const segment_view view(shape, segment);
  const std::size_t limit = shape.area_within(segment.size());
  segment_census found;
  cell_entries here(found);
  std::size_t last_end = 0;
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    const std::size_t begin = view.block_offset(b);
    const std::size_t end = view.block_offset(b + 1);
    // Blocks of damaged files may overlap, and would be read many times.
    if (begin < last_end || begin > end || end > limit) continue;
    last_end = end;
    unsigned current = 0;
    for_block(shape, view.area(), begin, end, [&](unsigned cell, std::uint64_t entry) noexcept {
      if (cell != current) here.end_cell();
      current = cell;
      here.add(entry);
    });
    here.end_cell();
  }
  return found;
}
