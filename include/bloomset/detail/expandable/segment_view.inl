// Reads a segment. Included into a namespace that has select_one and count_ones for its instruction
// set: bloomset::detail has portable ones, segment_native.hpp and the kernels have others.

/// The position of zero number k (from 0) in the code of a block of `bytes` bytes. 8 * bytes if
/// there are fewer zeros, which only damaged files have.
inline std::size_t find_zero(const std::byte* block, std::size_t bytes, std::size_t k) noexcept {
  for (std::size_t at = 0; at < bytes; at += 8) {
    // Bits beyond the block do not count.
    const auto here = detail::min<std::size_t>(8, bytes - at);
    std::uint64_t zeros = ~load<std::uint64_t>(block + at);
    if (here < 8) zeros = low_bits(zeros, static_cast<unsigned>(8 * here));
    const unsigned count = count_ones(zeros);
    if (k < count) return 8 * at + select_one(zeros, static_cast<unsigned>(k));
    k -= count;
  }
  return 8 * bytes;
}

/// The run of a cell in a code of any length. Empty if the code has no such cell.
inline cell_run long_run(const std::byte* block, std::size_t bytes, unsigned cell) noexcept {
  const std::size_t zero = find_zero(block, bytes, cell);
  const std::size_t next = find_zero(block, bytes, std::size_t{cell} + 1);
  // The bytes of a mapped file may change between the two calls.
  if (next == 8 * bytes || next <= zero) return {0, 0};
  return {zero - cell, next - zero - 1};
}

/// As long_run, faster for codes of up to 128 bits, which nearly all are. Reads 16 bytes.
inline cell_run find_run(const std::byte* block, std::size_t bytes, unsigned cell) noexcept {
  const auto low = load<std::uint64_t>(block);
  const unsigned below = count_ones(~low);
  if (cell < below) {
    const unsigned zero = select_one(~low, cell);
    const auto size = static_cast<unsigned>(std::countr_one(low >> zero >> 1));
    if (zero + 1 + size < 64) [[likely]]
      return {zero - cell, size};
  } else {
    const auto high = load<std::uint64_t>(block + 8);
    if (cell - below < count_ones(~high)) {
      const unsigned zero = select_one(~high, cell - below);
      const auto size = static_cast<unsigned>(std::countr_one(high >> zero >> 1));
      if (zero + 1 + size < 64) [[likely]]
        return {64 + zero - cell, size};
    }
  }
  return long_run(block, bytes, cell);
}

/// A segment to be read. Reads only its bytes, whatever they are.
/// Precondition: bytes.size() >= shape.min_bytes().
class segment_view {
 public:
  segment_view(const segment_shape& shape, std::span<const std::byte> bytes) noexcept
      : shape_(shape),
        block_offsets_(bytes.data()),
        area_(bytes.data() + shape.offset_bytes()),
        limit_(shape.area_within(bytes.size())),
        last_begin_(bytes.size() - shape.offset_bytes() - code_read) {}

  std::size_t block_offset(std::size_t block) const noexcept {
    return load<std::uint16_t>(block_offsets_ + 2 * block);
  }
  const std::byte* area() const noexcept { return area_; }
  /// True if the bytes [begin, end) can be read as a block. Always true in a well-formed segment.
  bool is_inside(std::size_t begin, std::size_t end) const noexcept {
    return begin <= end && end <= limit_ && begin <= last_begin_;
  }

  /// The bytes of a cell's block in the area; none if they cannot be read.
  byte_interval block_of(std::size_t cell) const noexcept {
    const std::size_t begin = block_offset(cell / block_cells);
    const std::size_t end = block_offset(cell / block_cells + 1);
    return is_inside(begin, end) ? byte_interval{begin, end} : byte_interval{};
  }

  void prefetch_block(std::size_t cell) const noexcept {
    const std::size_t block = cell / block_cells;
    prefetch_line(area_ + block_offset(block));
    prefetch_line(area_ + block_offset(block + 1));
  }

  /// Prefetches four cache lines where the block is likely to be, for writing if `Write` is 1.
  /// Blocks are almost equally long: in a segment of 2^14 cells the standard deviation of their
  /// begin is 80 bytes. A single operation would otherwise wait for the block's offset first.
  template <int Write>
  void prefetch_likely(std::size_t cell) const noexcept {
    const std::size_t begin = limit_ * (cell / block_cells) >> (shape_.cell_bits - block_cell_bits);
    const std::byte* const likely = area_ + begin;
    for (int line = -1; line <= 2; ++line)
      prefetch_line<Write, 1>(likely + std::ptrdiff_t{64} * line);
  }

  /// Prefetches four cache lines from the block's begin on, for writing.
  void prefetch_near(std::size_t cell) const noexcept {
    const std::byte* const begin = area_ + block_offset(cell / block_cells);
    for (std::size_t line = 0; line < 256; line += 64) prefetch_line<1>(begin + line);
  }

  /// Calls use(entry, its number in the block) for each entry of the cell, until it returns false.
  template <class Use>
  void for_cell(std::size_t cell, Use&& use) const noexcept {
    const std::size_t block = cell / block_cells;
    const std::size_t begin = block_offset(block);
    const std::size_t end = block_offset(block + 1);
    if (!is_inside(begin, end)) return;
    const cell_run run = find_run(area_ + begin, end - begin, cell % block_cells);
    const std::size_t w = shape_.slot_bits;
    if ((run.first + run.size) * w > 8 * end) return;
    std::size_t at = 8 * end - run.first * w;
    for (std::size_t i = 0; i < run.size; ++i) {
      at -= w;
      if (!use(get_bits(area_, at, shape_.slot_bits), run.first + i)) return;
    }
  }

  bool contains(std::size_t cell, std::uint64_t remainder) const noexcept {
    bool found = false;
    for_cell(cell, [&](std::uint64_t entry, std::size_t) noexcept {
      found = is_match(entry, remainder);
      return !found;
    });
    return found;
  }
  std::size_t copies(std::size_t cell, std::uint64_t remainder) const noexcept {
    std::size_t found = 0;
    for_cell(cell, [&](std::uint64_t entry, std::size_t) noexcept {
      found += is_match(entry, remainder);
      return true;
    });
    return found;
  }

 private:
  segment_shape shape_;
  const std::byte* block_offsets_;
  const std::byte* area_;
  std::size_t limit_;
  std::size_t last_begin_;
};
