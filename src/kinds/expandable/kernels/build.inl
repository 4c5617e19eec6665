// Segments built from the entries of others. Included behind edit.inl.

// Bits of a code that are read at once: with a shift of up to 7 they fit into a word.
constexpr unsigned code_piece = 56;

// Calls use(cell in the block, entry) for each entry of a block, in order.
template <class Use>
void for_block(const segment_shape& shape, const std::byte* area, std::size_t begin,
               std::size_t end, Use&& use) {
  const std::byte* const code = area + begin;
  const std::size_t bits = find_zero(code, end - begin, block_cells);
  std::size_t i = 0;
  std::size_t at = 8 * end;
  for (std::size_t from = 0; from < bits; from += code_piece) {
    std::uint64_t ones =
        get_bits(code, from, static_cast<unsigned>(std::min<std::size_t>(code_piece, bits - from)));
    for (; ones != 0; ones &= ones - 1) {
      const std::size_t place = from + static_cast<unsigned>(std::countr_zero(ones));
      if (at < shape.slot_bits) return;  // not well formed
      at -= shape.slot_bits;
      use(static_cast<unsigned>(place - 1 - i), get_bits(area, at, shape.slot_bits));
      ++i;
    }
  }
}

// Builds a segment or a half of one, block by block. Each entry is written at once to its final
// place in the block: its code upwards from the first bit, its slot downwards from the last.
class builder {
 public:
  /// For `blocks` blocks of a segment, each of up to `max_entries` entries, at first with room for
  /// `bytes` bytes. The blocks share `more_gaps` bytes of gaps in addition to the shape's.
  builder(const segment_shape& shape, std::size_t blocks, std::size_t max_entries,
          std::size_t bytes, std::size_t more_gaps)
      : shape_(shape),
        code_(code_bits(max_entries) / 64 + 2),
        slots_(min_slots + shape.slot_bytes(max_entries)),
        blocks_(blocks),
        more_gaps_(more_gaps) {
    made_.area.resize(bytes + more_gaps);
    made_.ends.reserve(blocks);
  }

  /// Precondition: the entries of a block come in the order of their cells.
  void add(unsigned cell, std::uint64_t entry) noexcept {
    const std::size_t place = 1 + cell + waiting_;
    code_[place / 64] |= std::uint64_t{1} << place % 64;
    // The entry shares its last byte with the entry before.
    last_word_ |= entry << (64 - shape_.slot_bits - filled_);
    store(slots_.data() + slots_at_ - 8, last_word_);
    filled_ += shape_.slot_bits;
    slots_at_ -= filled_ / 8;
    last_word_ = filled_ < 64 ? last_word_ << filled_ / 8 * 8 : 0;
    filled_ %= 8;
    ++waiting_;
  }

  void end_block() {
    const std::size_t n = waiting_;
    const std::size_t code = shape_.code_bytes(n);
    const std::size_t slots = shape_.slot_bytes(n);
    const std::size_t share = shape_.gaps.share;
    owed_ += std::min(code + slots, share * shape_.max_gap());
    const std::size_t begin = made_.size;
    const std::size_t built = made_.ends.size();
    made_.size += code + slots + owed_ / share + more_gaps_ * (built + 1) / blocks_ -
                  more_gaps_ * built / blocks_;
    owed_ %= share;
    if (made_.area.size() < made_.size) made_.area.resize(2 * made_.size);
    std::memcpy(made_.area.data() + begin, code_.data(), code);
    std::memcpy(made_.area.data() + made_.size - slots, slots_.data() + slots_.size() - slots,
                slots);
    made_.ends.push_back(made_.size);
    made_.entries += n;
    made_.largest_block = std::max(made_.largest_block, n);
    std::fill_n(code_.begin(), code / 8 + 1, 0);
    waiting_ = 0;
    slots_at_ = slots_.size();
    filled_ = 0;
    last_word_ = 0;
  }

  built_half take() noexcept { return std::move(made_); }

 private:
  // The word before the slots.
  static constexpr std::size_t min_slots = 8;

  segment_shape shape_;
  unsigned filled_ = 0;  // bits of the last byte, below 8
  std::size_t waiting_ = 0;
  std::uint64_t last_word_ = 0;
  std::vector<std::uint64_t> code_;
  std::vector<std::byte> slots_;
  std::size_t slots_at_ = slots_.size();  // end of the bytes that are not filled yet
  std::size_t blocks_;
  std::size_t more_gaps_;
  built_half made_;  // zeros behind its size
  std::size_t owed_ = 0;
};

// The segments that a segment's entries are written to: one of the same cells (1 part), one of
// twice the cells (2 parts, its halves), or two that it is split into (4 parts, the halves of
// both).
template <std::size_t parts>
class rebuilt_segment {
 public:
  /// `max_entries`: of an old block. `bytes`: room in all parts, at first. `more_gaps` as for a
  /// builder.
  rebuilt_segment(const segment_shape& old, const segment_shape& made, std::size_t max_entries,
                  std::size_t bytes, std::size_t more_gaps) {
    constexpr std::size_t joined = parts == 4 ? 2 : 1;  // old blocks that become one
    parts_.reserve(parts);
    for (std::size_t i = 0; i < parts; ++i) {
      parts_.emplace_back(made, old.blocks() / joined, joined * max_entries, bytes / parts,
                          more_gaps);
    }
  }

  /// Adds an entry of block b. The lowest bit of its remainder names the half; an entry without a
  /// remainder goes to both.
  void add(std::size_t b, unsigned cell, std::uint64_t entry) noexcept {
    if constexpr (parts == 1) {
      parts_[0].add(cell, entry);
    } else {
      builder* const halves = &parts_[parts == 4 ? 2 * (cell & 1) : 0];
      // In a split two blocks become one block in each half of each segment.
      if (parts == 4) cell = static_cast<unsigned>(b % 2 * block_cells + cell) / 2;
      if (entry == 1) [[unlikely]] {
        halves[0].add(cell, 1);
        halves[1].add(cell, 1);
      } else {
        halves[entry & 1].add(cell, entry >> 1);
      }
    }
  }
  void end_block(std::size_t b) {
    if (parts == 4 && b % 2 == 0) return;
    for (builder& each : parts_) each.end_block();
  }

  /// `entries`: those that were added.
  segment_pair take(std::size_t entries) noexcept {
    const auto half = [&](std::size_t i) { return i < parts ? parts_[i].take() : built_half{}; };
    segment_pair made{{half(0), half(1)}, {half(2), half(3)}, 0};
    made.gained = made.first.entries() + made.second.entries() - entries;
    return made;
  }

 private:
  std::vector<builder> parts_;
};

template <std::size_t parts>
std::optional<segment_pair> rebuild(const segment_shape& shape, std::span<const std::byte> segment,
                                    unsigned slot_bits) noexcept try {
  const block_list old(shape, segment);
  std::size_t entries = 0;
  std::size_t max_in_block = 0;
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    const std::size_t n = old.entries(b);
    entries += n;
    max_in_block = std::max(max_in_block, n);
  }
  rebuilt_segment<parts> made(shape, {shape.cell_bits, slot_bits, shape.gaps}, max_in_block,
                              segment.size() + segment.size() / 4, 0);
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    for_block(shape, old.area(), old.block_offset(b), old.block_offset(b + 1),
              [&](unsigned cell, std::uint64_t entry) noexcept { made.add(b, cell, entry); });
    made.end_block(b);
  }
  return made.take(entries);
} catch (const std::bad_alloc&) {
  return std::nullopt;
}

void list(const segment_shape& shape, std::span<const std::byte> segment,
          std::vector<cell_entry>& to) {
  to.clear();
  const block_list own(shape, segment);
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    for_block(shape, own.area(), own.block_offset(b), own.block_offset(b + 1),
              [&](unsigned cell, std::uint64_t entry) {
                to.push_back({static_cast<std::uint32_t>(b * block_cells + cell), entry});
              });
  }
}

// The shape of a segment that many keys were added to at once: its gaps are as large as they are on
// average between two layouts of single inserts.
constexpr segment_shape merged_shape(const segment_shape& shape, unsigned slot_bits) {
  return {shape.cell_bits, slot_bits, {2 * shape.gaps.share, shape.gaps.max_entries}};
}

std::optional<built_segment> build(const segment_shape& shape, std::span<const cell_entry> entries,
                                   std::size_t room_before) noexcept try {
  std::vector<std::size_t> sizes(shape.blocks());
  for (const cell_entry& each : entries) ++sizes[each.cell / block_cells];
  std::size_t used = 0;
  for (const std::size_t n : sizes) used += shape.block_bytes(n);
  const segment_shape merged = merged_shape(shape, shape.slot_bits);
  const std::size_t bytes = used + used / merged.gaps.share;
  builder made(merged, shape.blocks(), std::ranges::max(sizes), bytes,
               std::max(bytes, room_before) - bytes);
  const cell_entry* next = entries.data();
  for (const std::size_t n : sizes) {
    for (const cell_entry& each : std::span(next, n)) made.add(each.cell % block_cells, each.entry);
    next += n;
    made.end_block();
  }
  return built_segment{made.take(), {}};
} catch (const std::bad_alloc&) {
  return std::nullopt;
}
