// What is read of a whole segment, for one that may be damaged: whether it is well formed, and what
// its entries match. Included behind segment_build.inl.

// The entries of a cell, of which those are counted that no other one covers.
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
  // Beyond this many, which only chosen keys make, they are taken as disjoint.
  static constexpr std::size_t compared = 64;

  void count(std::uint64_t entry) noexcept { ++census_.uncovered[std::bit_width(entry) - 1]; }
  // Whether another that is a prefix of this one, or its equal before it, matches all that it does.
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

std::optional<std::size_t> check(const segment_shape& shape,
                                 std::span<const std::byte> segment) noexcept {
  const auto is_zero = [&](std::size_t from, std::size_t end) {
    return std::all_of(segment.begin() + static_cast<std::ptrdiff_t>(from),
                       segment.begin() + static_cast<std::ptrdiff_t>(end),
                       [](std::byte b) { return b == std::byte{0}; });
  };
  if (segment.size() < shape.min_bytes()) return std::nullopt;
  const segment_view view(shape, segment);
  const std::size_t limit = shape.area_within(segment.size());
  std::size_t entries = 0;
  if (view.start(0) != 0) return std::nullopt;
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    const std::size_t begin = view.start(b);
    const std::size_t end = view.start(b + 1);
    if (begin > end || end > limit) return std::nullopt;
    const std::byte* const block = view.area() + begin;
    const std::size_t last = find_zero(block, end - begin, block_cells);
    if (last == 8 * (end - begin) || (load<std::uint8_t>(block) & 1) != 0) return std::nullopt;
    const std::size_t n = last - block_cells;
    if (n > max_block_entries) return std::nullopt;
    const std::size_t code = bytes_for_bits(code_bits(n));
    const std::size_t slots = n * shape.slot_bits;
    if (code + bytes_for_bits(slots) > end - begin) return std::nullopt;
    for (std::size_t at = code_bits(n); at < 8 * code; ++at) {
      if (get_bits(block, at, 1) != 0) return std::nullopt;
    }
    const std::size_t gap_end = end - bytes_for_bits(slots);
    if (!is_zero(shape.table_bytes() + begin + code, shape.table_bytes() + gap_end)) {
      return std::nullopt;
    }
    for (std::size_t at = 8 * gap_end; at < 8 * end - slots; ++at) {
      if (get_bits(view.area(), at, 1) != 0) return std::nullopt;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t at = 8 * end - (i + 1) * shape.slot_bits;
      if (get_bits(view.area(), at, shape.slot_bits) == 0) return std::nullopt;
    }
    entries += n;
  }
  const std::size_t area = view.start(shape.blocks());
  if (segment.size() != shape.stored_bytes(area) &&
      segment.size() != round_up(shape.table_bytes() + area + code_read, 8)) {
    return std::nullopt;  // the second: a single block's in files from before it had less padding
  }
  if (!is_zero(shape.table_bytes() + area, segment.size())) return std::nullopt;
  return entries;
}

segment_census census(const segment_shape& shape, std::span<const std::byte> segment) noexcept {
  const segment_view view(shape, segment);
  const std::size_t limit = shape.area_within(segment.size());
  segment_census found;
  cell_entries here(found);
  std::size_t last_end = 0;
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    const std::size_t begin = view.start(b);
    const std::size_t end = view.start(b + 1);
    // Blocks that overlap, as only damage makes them, would be read many times.
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
