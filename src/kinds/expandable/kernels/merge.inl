// A segment and its keys of a large batch, merged in one pass over the blocks: a single insert
// shifts half a block, and this writes each block once. Included behind build.inl.

// An entry with its cell of the block above it, so that ascending numbers are ascending cells.
// After a split entries have a bit more than a slot, at most 58.
constexpr unsigned cell_shift = 58;
static_assert(cell_shift > max_slot_bits && cell_shift + block_cell_bits < 64);

constexpr unsigned cell_of(std::uint64_t packed) {
  return static_cast<unsigned>(packed >> cell_shift);
}

// Gaps as large as they are on average between two layouts of single inserts.
constexpr segment_shape merged_shape(const segment_shape& shape, unsigned slot_bits) {
  return {shape.cell_bits, slot_bits, {2 * shape.gaps.share, shape.gaps.max_entries}};
}

// Keys of a block are compared with all others of their cell. A block has some twenty; more are
// chosen, or copies of a few.
constexpr std::size_t max_keys_per_block = 1024;

// Gaps to add so that the blocks do not get smaller than they were.
constexpr std::size_t gaps_to_keep(std::size_t bytes, std::size_t room_before) noexcept {
  return room_before > bytes ? room_before - bytes : std::size_t{0};
}

// Counting sort of keys by cell: buffers.sorted, and buffers.ends for each cell.
void sort_keys(const segment_shape& shape, unsigned level, std::span<const hash64> keys,
               merge_buffers& buffers) {
  const std::size_t cells = shape.blocks() * block_cells;
  buffers.ends.assign(cells, 0);
  if (buffers.sorted.size() < keys.size()) buffers.sorted.resize(2 * keys.size());
  std::uint32_t* const ends = buffers.ends.data();
  for (const hash64 h : keys) ++ends[low_bits(h.value >> level, shape.cell_bits)];
  std::uint32_t before = 0;
  for (std::size_t c = 0; c < cells; ++c) before += std::exchange(ends[c], before);
  std::uint64_t* const sorted = buffers.sorted.data();
  for (const hash64 h : keys) {
    const std::uint64_t above = h.value >> level;
    sorted[ends[low_bits(above, shape.cell_bits)]++] = above;
  }
}

// The keys of a block in buffers.sorted: [first, last).
struct key_range {
  std::size_t first;
  std::size_t last;
};
key_range keys_of_block(const merge_buffers& buffers, std::size_t block) noexcept {
  return {block == 0 ? 0 : buffers.ends[block * block_cells - 1],
          buffers.ends[(block + 1) * block_cells - 1]};
}

// Merges blocks with their keys. Reorders `keys` as segment_kernels::merge says; they are no longer
// read once they are sorted.
class block_merger {
 public:
  block_merger(const segment_shape& shape, const merge_order& order, std::size_t max_copies,
               std::span<hash64> keys, merge_buffers& buffers) noexcept
      : cell_bits_(shape.cell_bits),
        // A split takes the remainder's lowest bit from the entry.
        marker_(std::uint64_t{1} << (order.slot_bits - (order.splits ? 0 : 1))),
        order_(order),
        max_copies_(max_copies),
        keys_(keys),
        next_placed_(keys.size()),
        held_(buffers.held.data()),
        merged_(buffers.merged.data()),
        sorted_(buffers.sorted.data()) {}

  // Merges the n entries in buffers.held with the keys into buffers.merged. Returns how many
  // entries those are. Precondition: held[n] is behind all cells.
  std::size_t merge(std::size_t n, key_range range) noexcept {
    std::size_t size = 0;
    std::size_t i = 0;
    for (std::size_t at = range.first; at < range.last; ++at) {
      const std::uint64_t above = sorted_[at];
      const std::uint64_t remainder = above >> cell_bits_;
      const std::uint64_t cell = low_bits(above, block_cell_bits);
      const std::uint64_t next_cell = (cell + 1) << cell_shift;
      while (held_[i] < next_cell && i < n) merged_[size++] = held_[i++];
      std::size_t matching = 0;
      for (std::size_t k = size; k > 0 && cell_of(merged_[k - 1]) == cell; --k) {
        matching += is_match(low_bits(merged_[k - 1], cell_shift), remainder);
      }
      const hash64 h{above << order_.level | order_.segment};
      if (matching >= max_copies_) [[unlikely]] {
        keys_[leftover_++] = h;
        continue;
      }
      newly_inserted_ += matching == 0;
      keys_[--next_placed_] = h;
      merged_[size++] = cell << cell_shift | marker_ | (remainder & (marker_ - 1));
    }
    while (i < n) merged_[size++] = held_[i++];
    return size;
  }

  std::size_t placed() const noexcept { return keys_.size() - leftover_; }
  std::size_t newly_inserted() const noexcept { return newly_inserted_; }

 private:
  unsigned cell_bits_;
  std::uint64_t marker_;
  merge_order order_;
  std::size_t max_copies_;
  std::span<hash64> keys_;
  std::size_t next_placed_;
  std::uint64_t* held_;
  std::uint64_t* merged_;
  const std::uint64_t* sorted_;
  std::size_t leftover_ = 0;
  std::size_t newly_inserted_ = 0;
};

// Sizes of a segment with its sorted keys.
struct merge_sizes {
  std::size_t entries = 0;  // of the segment
  std::size_t used = 0;     // bytes of blocks with all keys
  std::size_t max_in_block = 0;
};

// Nothing if too many keys belong to one block.
std::optional<merge_sizes> measure_merge(const segment_shape& shape, const block_list& parent,
                                         const merge_buffers& buffers) noexcept {
  merge_sizes sizes;
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    const std::size_t n = parent.entries(b);
    const key_range range = keys_of_block(buffers, b);
    const std::size_t keys = range.last - range.first;
    if (keys > max_keys_per_block) return std::nullopt;
    sizes.entries += n;
    sizes.used += parent.used(n + keys);
    sizes.max_in_block = std::max(sizes.max_in_block, n + keys);
  }
  return sizes;
}

// One builder for a segment that is not split, otherwise one for each half of the two.
std::vector<builder> merge_builders(const segment_shape& shape, const merge_order& order,
                                    const merge_sizes& sizes) {
  const segment_shape merged = merged_shape(shape, order.slot_bits);
  const std::size_t bytes = sizes.used + sizes.used / merged.gaps.share;
  const std::size_t parts = order.splits ? 4 : 1;
  std::vector<builder> made;
  made.reserve(parts);
  for (std::size_t i = 0; i < parts; ++i) {
    made.emplace_back(merged, order.splits ? shape.blocks() / 2 : shape.blocks(),
                      bytes / parts + sizes.used / (parts * 8),
                      order.splits ? 0 : gaps_to_keep(bytes, order.room_before));
    made.back().reserve(2 * sizes.max_in_block);
  }
  return made;
}

// Adds the merged entries of block b.
void add_merged(std::vector<builder>& made, std::size_t b, std::span<const std::uint64_t> merged) {
  if (made.size() == 1) {
    for (const std::uint64_t each : merged) made[0].add(cell_of(each), low_bits(each, cell_shift));
    made[0].end_block();
    return;
  }
  // Two blocks become one block in each half of each child.
  const unsigned first_cell = b % 2 == 0 ? 0 : block_cells / 2;
  for (const std::uint64_t each : merged) {
    const unsigned cell = cell_of(each);
    const auto child = std::span(made).subspan(2 * std::size_t{cell & 1}).first<2>();
    add_to_half(child, first_cell + cell / 2, low_bits(each, cell_shift));
  }
  if (b % 2 == 0) return;
  for (builder& each : made) each.end_block();
}

std::optional<merged_segment> merge(const segment_shape& shape, std::span<const std::byte> segment,
                                    const merge_order& order, std::size_t max_copies,
                                    std::span<hash64> keys, merge_buffers& buffers) noexcept {
  bool is_sorted = false;
  try {
    const block_list parent(shape, segment.data());
    sort_keys(shape, order.level, keys, buffers);
    is_sorted = true;
    const auto sizes = measure_merge(shape, parent, buffers);
    if (!sizes) return std::nullopt;
    buffers.held.resize(sizes->max_in_block + 1);
    buffers.merged.resize(sizes->max_in_block);
    std::vector<builder> made = merge_builders(shape, order, *sizes);
    block_merger merger(shape, order, max_copies, keys, buffers);
    for (std::size_t b = 0; b < shape.blocks(); ++b) {
      std::size_t n = 0;
      for_block(shape, parent.area(), parent.block_offset(b), parent.block_offset(b + 1),
                [&](unsigned cell, std::uint64_t entry) noexcept {
                  buffers.held[n++] = std::uint64_t{cell} << cell_shift | entry;
                });
      buffers.held[n] = ~std::uint64_t{0};
      const std::size_t size = merger.merge(n, keys_of_block(buffers, b));
      add_merged(made, b, std::span(buffers.merged).first(size));
    }
    merged_segment done{{{made[0].take(), {}}, {}, 0}, merger.placed(), merger.newly_inserted()};
    if (order.splits) {
      done.segments.first.high = made[1].take();
      done.segments.second = {made[2].take(), made[3].take()};
    }
    done.segments.gained = done.segments.first.entries() + done.segments.second.entries() -
                           sizes->entries - done.placed;
    return done;
  } catch (const std::bad_alloc&) {
    for (std::size_t i = 0; is_sorted && i < keys.size(); ++i) {
      keys[i] = {buffers.sorted[i] << order.level | order.segment};
    }
    return std::nullopt;
  }
}
