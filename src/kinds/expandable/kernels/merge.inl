// A segment and many keys become one, or two, in one pass over its blocks: an insert shifts half a
// block, and this writes each block once. Included behind segment_build.inl.

// An entry with its cell above it, so that the order of both is that of one number. A split's
// entries have a bit more than a slot, at most 58.
constexpr unsigned cell_shift = 58;
static_assert(cell_shift > max_slot_bits && cell_shift + block_cell_bits < 64);

// With gaps as large as they are on average between two layouts for single inserts.
constexpr segment_shape merged_shape(const segment_shape& shape, unsigned slot_bits) {
  return {shape.cell_bits, slot_bits, {2 * shape.gaps.share, shape.gaps.max_entries}};
}

// Each key is compared with all others of its cell: more in a block, of some twenty as a rule, are
// chosen, or copies of a few.
constexpr std::size_t max_keys_a_block = 1024;

// Of the bytes that a segment's blocks have had, those beyond what it will have: what it was
// planned with is not given back.
constexpr std::size_t gaps_to_keep(std::size_t bytes, std::size_t room_before) noexcept {
  return room_before > bytes ? room_before - bytes : std::size_t{0};
}

constexpr unsigned cell_of(std::uint64_t packed) {
  return static_cast<unsigned>(packed >> cell_shift);
}

// Sorts keys by cell, by counting: room.sorted, and room.ends for each cell.
void sort_keys(const segment_shape& shape, unsigned level, std::span<const hash64> keys,
               merge_room& room) {
  const std::size_t cells = shape.blocks() * block_cells;
  room.ends.assign(cells, 0);
  if (room.sorted.size() < keys.size()) room.sorted.resize(2 * keys.size());
  std::uint32_t* const ends = room.ends.data();
  for (const hash64 h : keys) ++ends[low_bits(h.value >> level, shape.cell_bits)];
  std::uint32_t before = 0;
  for (std::size_t c = 0; c < cells; ++c) before += std::exchange(ends[c], before);
  std::uint64_t* const sorted = room.sorted.data();
  for (const hash64 h : keys) {
    const std::uint64_t behind = h.value >> level;
    sorted[ends[low_bits(behind, shape.cell_bits)]++] = behind;
  }
}

// Of a block whose entries are in room.held, and one more that is behind all cells: adds keys
// [first, last) of room.sorted to those of their cells, and writes all to room.merged; returns how
// many they are.
class block_merger {
 public:
  block_merger(const segment_shape& shape, const merge_order& order, std::size_t most,
               std::span<hash64> keys, merge_room& room) noexcept
      : cell_bits_(shape.cell_bits),
        // A split takes the first bit.
        marker_(std::uint64_t{1} << (order.slot_bits - (order.splits ? 0 : 1))),
        order_(order),
        most_(most),
        keys_(keys),
        next_placed_(keys.size()),
        held_(room.held.data()),
        merged_(room.merged.data()),
        sorted_(room.sorted.data()) {}

  std::size_t merge(std::size_t n, std::size_t first, std::size_t last) noexcept {
    std::size_t size = 0;
    std::size_t i = 0;
    for (std::size_t at = first; at < last; ++at) {
      const std::uint64_t behind = sorted_[at];
      const std::uint64_t rest = behind >> cell_bits_;
      const std::uint64_t cell = low_bits(behind, block_cell_bits);
      const std::uint64_t next_cell = (cell + 1) << cell_shift;
      while (held_[i] < next_cell && i < n) merged_[size++] = held_[i++];
      std::size_t matching = 0;
      for (std::size_t k = size; k > 0 && cell_of(merged_[k - 1]) == cell; --k) {
        matching += is_match(low_bits(merged_[k - 1], cell_shift), rest);
      }
      const hash64 h{behind << order_.level | order_.segment};
      if (matching >= most_) [[unlikely]] {
        keys_[left_++] = h;
        continue;
      }
      fresh_ += matching == 0;
      keys_[--next_placed_] = h;
      merged_[size++] = cell << cell_shift | marker_ | (rest & (marker_ - 1));
    }
    while (i < n) merged_[size++] = held_[i++];
    return size;
  }

  std::size_t placed() const noexcept { return keys_.size() - left_; }
  std::size_t fresh() const noexcept { return fresh_; }

 private:
  unsigned cell_bits_;
  std::uint64_t marker_;
  merge_order order_;
  std::size_t most_;
  std::span<hash64> keys_;  // read no more once they are sorted
  std::size_t next_placed_;
  std::uint64_t* held_;
  std::uint64_t* merged_;
  const std::uint64_t* sorted_;
  std::size_t left_ = 0;
  std::size_t fresh_ = 0;
};

std::optional<merged_segment> merge(const segment_shape& shape, std::span<const std::byte> segment,
                                    const merge_order& order, std::size_t most,
                                    std::span<hash64> keys, merge_room& room) noexcept {
  bool is_sorted = false;
  try {
    const block_list parent(shape, segment.data());
    sort_keys(shape, order.level, keys, room);
    is_sorted = true;
    std::size_t entries = 0;
    std::size_t used = 0;
    std::size_t max_in_block = 0;
    for (std::size_t b = 0; b < shape.blocks(); ++b) {
      const std::size_t n = parent.entries(b);
      const std::size_t end = room.ends[(b + 1) * block_cells - 1];
      const std::size_t begin = b == 0 ? 0 : room.ends[b * block_cells - 1];
      if (end - begin > max_keys_a_block) return std::nullopt;
      entries += n;
      used += parent.used(n + end - begin);
      max_in_block = std::max(max_in_block, n + end - begin);
    }
    room.held.resize(max_in_block + 1);
    room.merged.resize(max_in_block);
    const segment_shape merged = merged_shape(shape, order.slot_bits);
    const std::size_t gaps = used / merged.gaps.share;
    const std::size_t more = gaps_to_keep(used + gaps, order.room_before);
    const std::size_t parts = order.splits ? 4 : 1;
    std::vector<builder> made;
    made.reserve(parts);
    for (std::size_t i = 0; i < parts; ++i) {
      made.emplace_back(merged, order.splits ? shape.blocks() / 2 : shape.blocks(),
                        (used + gaps) / parts + used / (parts * 8), order.splits ? 0 : more);
      made.back().reserve(2 * max_in_block);
    }
    block_merger merger(shape, order, most, keys, room);
    for (std::size_t b = 0; b < shape.blocks(); ++b) {
      std::size_t n = 0;
      for_block(shape, segment.data() + shape.table_bytes(), parent.start(b), parent.start(b + 1),
                [&](unsigned cell, std::uint64_t entry) noexcept {
                  room.held[n++] = std::uint64_t{cell} << cell_shift | entry;
                });
      room.held[n] = ~std::uint64_t{0};
      const std::size_t size = merger.merge(n, b == 0 ? 0 : room.ends[b * block_cells - 1],
                                            room.ends[(b + 1) * block_cells - 1]);
      const std::uint64_t* const all = room.merged.data();
      if (!order.splits) {
        for (std::size_t i = 0; i < size; ++i) {
          made[0].add(cell_of(all[i]), low_bits(all[i], cell_shift));
        }
        made[0].end_block();
        continue;
      }
      // Two blocks make one of each half of each child.
      const unsigned first_cell = b % 2 == 0 ? 0 : block_cells / 2;
      for (std::size_t i = 0; i < size; ++i) {
        const unsigned cell = cell_of(all[i]);
        const std::uint64_t entry = low_bits(all[i], cell_shift);
        const std::size_t child = 2 * std::size_t{cell & 1};
        const unsigned to = first_cell + cell / 2;
        if (entry == 1) [[unlikely]] {
          made[child].add(to, 1);
          made[child + 1].add(to, 1);
        } else {
          made[child + (entry & 1)].add(to, entry >> 1);
        }
      }
      if (b % 2 == 0) continue;
      for (builder& each : made) each.end_block();
    }
    merged_segment all{{{made[0].take(), {}}, {}, 0}, merger.placed(), merger.fresh()};
    segment_pair& pair = all.parts;
    if (order.splits) {
      pair.first.high = made[1].take();
      pair.second = {made[2].take(), made[3].take()};
    }
    pair.gained = pair.first.entries() + pair.second.entries() - entries - all.placed;
    return all;
  } catch (const std::bad_alloc&) {
    for (std::size_t i = 0; is_sorted && i < keys.size(); ++i) {
      keys[i] = {room.sorted[i] << order.level | order.segment};
    }
    return std::nullopt;
  }
}
