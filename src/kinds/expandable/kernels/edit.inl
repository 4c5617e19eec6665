// Insert, erase and layout of a segment. Included behind bits.inl.

// Blocks that an insert searches for a gap before the whole segment is laid out anew, and bytes of
// a gap that it takes in advance for its block's next inserts. Nearly all gaps are used up before
// the next layout.
constexpr std::size_t gap_search = 32;
constexpr std::size_t gap_taken_ahead = 3;

// The blocks of a well-formed segment, to be read, or with Byte = std::byte to be written.
template <class Byte>
class blocks_of {
 public:
  blocks_of(const segment_shape& shape, std::span<Byte> segment) noexcept
      : shape_(shape),
        block_offsets_(segment.data()),
        area_(segment.data() + shape.offset_bytes()),
        bytes_(segment.size() - shape.offset_bytes()) {}

  std::size_t block_offset(std::size_t block) const noexcept {
    return load<std::uint16_t>(block_offsets_ + 2 * block);
  }
  void set_block_offset(std::size_t block, std::size_t at) noexcept {
    store(block_offsets_ + 2 * block, static_cast<std::uint16_t>(at));
  }
  std::size_t size(std::size_t block) const noexcept {
    return block_offset(block + 1) - block_offset(block);
  }
  Byte* block(std::size_t b) const noexcept { return area_ + block_offset(b); }
  Byte* area() const noexcept { return area_; }
  std::size_t entries(std::size_t b) const noexcept {
    return find_zero(block(b), size(b), block_cells) - block_cells;
  }
  slot_row slots(std::size_t b) const noexcept {
    return {area_, bytes_, 8 * block_offset(b + 1), shape_.slot_bits};
  }

  // Enlarges the gap of block b, which has n entries, by the gap of a block near behind it. False
  // if none has `needed` bytes.
  bool take_gap(std::size_t b, std::size_t n, std::size_t needed) noexcept {
    const std::size_t last = std::min(shape_.blocks(), b + 1 + gap_search);
    for (std::size_t from = b + 1; from < last; ++from) {
      const std::size_t there = entries(from);
      const std::size_t found = size(from) - shape_.block_bytes(there);
      if (found < needed) continue;
      const std::size_t taken = std::min(found, needed + gap_taken_ahead);
      const std::size_t slots = block_offset(b + 1) - shape_.slot_bytes(n);
      const std::size_t end = block_offset(from) + shape_.code_bytes(there);
      std::memmove(area_ + slots + taken, area_ + slots, end - slots);
      std::memset(area_ + slots, 0, taken);
      for (std::size_t i = b + 1; i <= from; ++i) set_block_offset(i, block_offset(i) + taken);
      return true;
    }
    return false;
  }

 private:
  segment_shape shape_;
  Byte* block_offsets_;
  Byte* area_;
  std::size_t bytes_;  // of the area and its padding
};
using block_list = blocks_of<const std::byte>;
using editor = blocks_of<std::byte>;

void empty(const segment_shape& shape, std::size_t area, std::span<std::byte> to) noexcept {
  std::memset(to.data(), 0, to.size());
  editor laid(shape, to);
  for (std::size_t b = 0; b <= shape.blocks(); ++b)
    laid.set_block_offset(b, area * b / shape.blocks());
}

bool plan_layout(const segment_shape& shape, std::span<const std::byte> segment, std::size_t needed,
                 segment_layout& plan) noexcept {
  const std::size_t blocks = shape.blocks();
  const block_list old(shape, segment);
  std::size_t used = needed;
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t n = old.entries(i);
    plan.entries[i] = static_cast<std::uint16_t>(n);
    used += shape.block_bytes(n);
  }
  if (used > max_segment_area) return false;
  // A layout never makes the segment smaller, so planned room is kept.
  const std::size_t area = old.block_offset(blocks);
  // A single block has as gap the unused bytes of its last word.
  const std::size_t gaps = blocks == 1
                               ? shape.area_within(shape.stored_bytes(used)) - used
                               : std::min(used / shape.gaps.share, blocks * shape.max_gap());
  plan.gaps = std::min(std::max(gaps, area - std::min(area, used)), max_segment_area - used);
  plan.needed = needed;
  plan.bytes = shape.stored_bytes(used + plan.gaps);
  return true;
}

void lay_out(const segment_shape& shape, const segment_layout& plan, std::size_t b,
             std::span<const std::byte> from, std::span<std::byte> to) noexcept {
  const std::size_t blocks = shape.blocks();
  const block_list old(shape, from);
  std::memset(to.data(), 0, to.size());
  editor laid(shape, to);
  std::size_t at = 0;
  std::size_t gaps_before = 0;
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t n = plan.entries[i];
    const std::size_t slots = shape.slot_bytes(n);
    const std::size_t gaps = plan.gaps * (i + 1) / blocks;
    laid.set_block_offset(i, at);
    std::memcpy(laid.area() + at, old.block(i), shape.code_bytes(n));
    at += shape.block_bytes(n) + gaps - gaps_before + (i == b ? plan.needed : 0);
    gaps_before = gaps;
    std::memcpy(laid.area() + at - slots, old.block(i + 1) - slots, slots);
  }
  laid.set_block_offset(blocks, at);
}

// is_match() without branches: the bits below the entry's marker are shifted to the top.
constexpr bool matches(std::uint64_t entry, std::uint64_t remainder) noexcept {
  const std::uint64_t differing = (entry ^ remainder) << std::countl_zero(entry | 1) << 1;
  return static_cast<unsigned>(differing == 0) & static_cast<unsigned>(entry != 0);
}

[[gnu::always_inline]] inline insert_result insert_entry(const segment_shape& shape,
                                                         std::span<std::byte> segment,
                                                         std::size_t cell, std::uint64_t remainder,
                                                         std::size_t max_copies) noexcept {
  const std::size_t b = cell / block_cells;
  const auto in_block = static_cast<unsigned>(cell % block_cells);
  editor in(shape, segment);
  const std::size_t n = in.entries(b);
  const cell_run run = find_run(in.block(b), in.size(b), in_block);
  const std::size_t slots_end = 8 * in.block_offset(b + 1);
  std::size_t matching = 0;
  for (std::size_t i = run.first; i < run.first + run.size; ++i) {
    const std::uint64_t entry =
        get_bits(in.area(), slots_end - (i + 1) * shape.slot_bits, shape.slot_bits);
    matching += matches(entry, remainder);
  }
  if (matching >= max_copies || n == max_block_entries) return {matching, false, 0};
  const std::size_t needed = shape.block_bytes(n + 1);
  if (needed > in.size(b) && !in.take_gap(b, n, needed - in.size(b))) {
    return {matching, false, needed - shape.block_bytes(n)};
  }
  const std::uint64_t marker = std::uint64_t{1} << (shape.slot_bits - 1);
  push_slot(in.slots(b), n, run.first, marker | (remainder & (marker - 1)));
  // A one behind the cell's zero.
  const std::size_t one = run.first + in_block + 1;
  move_bits(in.block(b), one, code_bits(n) - one, one + 1);
  put_bits(in.block(b), one, 1, 1);
  return {matching, true, 0};
}

// With the code of insert_entry() itself, g++ 12 returns without vzeroupper
// (tests/source/object_code.py).
insert_result insert(const segment_shape& shape, std::span<std::byte> segment, std::size_t cell,
                     std::uint64_t remainder, std::size_t max_copies) noexcept {
  return insert_entry(shape, segment, cell, remainder, max_copies);
}

std::size_t insert_run(unsigned cell_bits, std::span<const segment_query> queries,
                       std::size_t max_copies, std::uint64_t& newly_inserted) noexcept {
  std::size_t done = 0;
  for (const segment_query& q : queries) {
    const insert_result r =
        insert_entry({cell_bits, q.slot_bits}, q.own_segment(), q.cell, q.remainder, max_copies);
    if (!r.placed) break;
    newly_inserted += static_cast<std::uint64_t>(r.matching == 0);
    ++done;
  }
  return done;
}

bool erase(const segment_shape& shape, std::span<std::byte> segment, std::size_t cell,
           std::uint64_t remainder) noexcept {
  std::uint64_t longest = 0;
  std::size_t found = 0;
  segment_view(shape, segment).for_cell(cell, [&](std::uint64_t entry, std::size_t i) noexcept {
    // Of two entries that match, the longer one has the higher marker.
    if (is_match(entry, remainder) && std::bit_width(entry) > std::bit_width(longest)) {
      longest = entry;
      found = i;
    }
    return true;
  });
  if (longest == 0) return false;
  const std::size_t b = cell / block_cells;
  const editor in(shape, segment);
  const std::size_t n = in.entries(b);
  const std::size_t w = shape.slot_bits;
  // Any one of the cell's ones.
  const std::size_t place = 1 + cell % block_cells + found;
  move_bits(in.block(b), place + 1, code_bits(n) - place - 1, place);
  put_bits(in.block(b), code_bits(n) - 1, 0, 1);
  const std::size_t end = 8 * in.block_offset(b + 1);
  move_bits(in.area(), end - n * w, (n - found - 1) * w, end - (n - 1) * w);
  put_bits(in.area(), end - n * w, 0, shape.slot_bits);
  return true;
}
