// Segments built from the entries of others: split and widen. Included behind edit.inl.

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

// Builds a half of a segment, block by block. Each entry is written at once to its final place in
// the block: its code upwards from the first bit, its slot downwards from the last.
class builder {
 public:
  /// For `blocks` blocks of a segment, at first with room for `bytes` bytes. The blocks share
  /// `more_gaps` bytes of gaps in addition to the shape's.
  builder(const segment_shape& shape, std::size_t blocks, std::size_t bytes,
          std::size_t more_gaps = 0)
      : slot_bits_(shape.slot_bits),
        blocks_(blocks),
        share_(shape.gaps.share),
        max_gap_(shape.max_gap()),
        more_gaps_(more_gaps) {
    made_.area.resize(bytes + more_gaps + max_cleared);
    made_.ends.reserve(blocks);
    make_room(std::size_t{4} * block_cells);
  }

  /// To be called before up to `entries` calls of add().
  void reserve(std::size_t entries) {
    if (waiting_ + entries > room_) make_room(2 * (waiting_ + entries) + 64);
  }
  /// Precondition: the entries of a block come in the order of their cells.
  void add(unsigned cell, std::uint64_t entry) noexcept {
    const std::size_t place = 1 + cell + waiting_;
    code_[place / 64] |= std::uint64_t{1} << place % 64;
    // The entry shares its last byte with the entry before.
    last_word_ |= entry << (64 - slot_bits_ - filled_);
    store(slots_.data() + slots_at_ - 8, last_word_);
    filled_ += slot_bits_;
    slots_at_ -= filled_ / 8;
    last_word_ = filled_ < 64 ? last_word_ << filled_ / 8 * 8 : 0;
    filled_ %= 8;
    ++waiting_;
  }

  void end_block() {
    const std::size_t n = waiting_;
    const std::size_t code = bytes_for_bits(code_bits(n));
    const std::size_t slots = bytes_for_bits(n * slot_bits_);
    owed_ += std::min(code + slots, share_ * max_gap_);
    const std::size_t begin = made_.size;
    const std::size_t built = made_.ends.size();
    made_.size += code + slots + owed_ / share_ + more_gaps_ * (built + 1) / blocks_ -
                  more_gaps_ * built / blocks_;
    owed_ %= share_;
    if (made_.area.size() < made_.size + max_cleared) {
      made_.area.resize(2 * made_.size + max_cleared);
    }
    copy_bytes(made_.area.data() + begin, std::as_bytes(std::span(code_)).data(), code, true);
    copy_bytes(made_.area.data() + made_.size - slots, slots_.data() + slots_end() - slots, slots,
               true);
    made_.ends.push_back(made_.size);
    made_.entries += n;
    made_.largest_block = std::max(made_.largest_block, n);
    std::fill_n(code_.begin(), code / 8 + 1, 0);
    waiting_ = 0;
    slots_at_ = slots_end();
    filled_ = 0;
    last_word_ = 0;
  }

  built_half take() noexcept { return std::move(made_); }

 private:
  // A word before the slots, and behind them the bytes that copy_bytes() may read.
  static constexpr std::size_t min_slots = 8 + max_cleared;
  std::size_t slots_end() const noexcept { return slots_.size() - max_cleared; }

  void make_room(std::size_t entries) {
    code_.resize((code_bits(entries) + 8 * max_cleared) / 64 + 1);
    std::vector<std::byte> slots(min_slots + bytes_for_bits(entries * slot_bits_));
    slots_at_ += slots.size() - slots_.size();
    std::copy_backward(slots_.begin(), slots_.end(), slots.end());
    slots_ = std::move(slots);
    room_ = entries;
  }

  unsigned slot_bits_;
  unsigned filled_ = 0;  // bits of the last byte, below 8
  std::size_t waiting_ = 0;
  std::uint64_t last_word_ = 0;
  std::size_t slots_at_ = 8;  // end of the bytes that are not filled yet
  std::vector<std::uint64_t> code_;
  std::vector<std::byte> slots_ = std::vector<std::byte>(min_slots);
  std::size_t room_ = 0;
  std::size_t blocks_;
  std::size_t share_;
  std::size_t max_gap_;
  std::size_t more_gaps_;
  built_half made_;  // zeros behind its size
  std::size_t owed_ = 0;
};

// Adds an entry to the half that the lowest bit of its remainder names, without this bit. An entry
// without a remainder goes to both.
void add_to_half(std::span<builder, 2> halves, unsigned cell, std::uint64_t entry) noexcept {
  if (entry == 1) [[unlikely]] {
    for (builder& half : halves) half.add(cell, 1);
  } else {
    halves[entry & 1].add(cell, entry >> 1);
  }
}

std::optional<segment_pair> split(const segment_shape& shape, std::span<const std::byte> segment,
                                  unsigned slot_bits) noexcept {
  try {
    const block_list parent(shape, segment.data());
    const segment_shape child{shape.cell_bits, slot_bits, shape.gaps};
    const auto half = [&] {
      return builder(child, shape.blocks() / 2, segment.size() / 4 + segment.size() / 16);
    };
    std::array<std::array<builder, 2>, 2> made{std::array{half(), half()},
                                               std::array{half(), half()}};
    std::size_t entries = 0;
    for (std::size_t block = 0; block < shape.blocks(); ++block) {
      const std::size_t n = parent.entries(block);
      entries += n;
      for (auto& halves : made) {
        for (builder& each : halves) each.reserve(n);
      }
      // Two blocks become one block in each half of each child.
      const unsigned first_cell = block % 2 == 0 ? 0 : block_cells / 2;
      for_block(shape, segment.data() + shape.offset_bytes(), parent.block_offset(block),
                parent.block_offset(block + 1), [&](unsigned cell, std::uint64_t entry) noexcept {
                  add_to_half(made[cell & 1], first_cell + cell / 2, entry);
                });
      if (block % 2 == 0) continue;
      for (auto& halves : made) {
        for (builder& each : halves) each.end_block();
      }
    }
    segment_pair pair{
        {made[0][0].take(), made[0][1].take()}, {made[1][0].take(), made[1][1].take()}, 0};
    pair.gained = pair.first.entries() + pair.second.entries() - entries;
    return pair;
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

std::optional<built_segment> widen(const segment_shape& shape, std::span<const std::byte> segment,
                                   unsigned slot_bits) noexcept {
  try {
    const block_list parent(shape, segment.data());
    const segment_shape wide{shape.cell_bits + 1, slot_bits, shape.gaps};
    const auto half = [&] {
      return builder(wide, shape.blocks(), segment.size() / 2 + segment.size() / 8);
    };
    std::array<builder, 2> halves{half(), half()};
    for (std::size_t block = 0; block < shape.blocks(); ++block) {
      for (builder& each : halves) each.reserve(parent.entries(block));
      for_block(shape, segment.data() + shape.offset_bytes(), parent.block_offset(block),
                parent.block_offset(block + 1), [&](unsigned cell, std::uint64_t entry) noexcept {
                  add_to_half(halves, cell, entry);
                });
      for (builder& each : halves) each.end_block();
    }
    return built_segment{halves[0].take(), halves[1].take()};
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}
