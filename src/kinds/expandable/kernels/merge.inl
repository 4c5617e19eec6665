// A segment and its keys of a large batch, merged in one pass over the blocks: a single insert
// shifts half a block, and this writes each block once. Included behind build.inl.

// A cell of the block above an entry, in one word, so that ascending words are ascending cells.
// After a split entries have a bit more than a slot, at most 58.
constexpr unsigned cell_shift = 58;
static_assert(cell_shift > max_slot_bits && cell_shift + block_cell_bits < 64);

constexpr unsigned cell_of(std::uint64_t packed) {
  return static_cast<unsigned>(packed >> cell_shift);
}

// Keys of a block are compared with all others of their cell. A block has some twenty. More keys
// are chosen, or copies of a few.
constexpr std::size_t max_keys_per_block = 1024;

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

// The sorted keys of a block.
std::span<const std::uint64_t> keys_of_block(const merge_buffers& buffers,
                                             std::size_t block) noexcept {
  const std::size_t begin = block == 0 ? 0 : buffers.ends[block * block_cells - 1];
  const std::size_t end = buffers.ends[(block + 1) * block_cells - 1];
  return std::span(buffers.sorted).subspan(begin, end - begin);
}

// Sizes of a segment with its sorted keys.
struct merge_sizes {
  std::size_t entries = 0;  // of the segment
  std::size_t used = 0;     // bytes of blocks with all keys
  std::size_t max_in_block = 0;
};

// Nothing if too many keys belong to one block.
std::optional<merge_sizes> measure_merge(const segment_shape& shape, const block_list& old,
                                         const merge_buffers& buffers) noexcept {
  merge_sizes sizes;
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    const std::size_t n = old.entries(b);
    const std::size_t keys = keys_of_block(buffers, b).size();
    if (keys > max_keys_per_block) return std::nullopt;
    sizes.entries += n;
    sizes.used += shape.block_bytes(n + keys);
    sizes.max_in_block = std::max(sizes.max_in_block, n + keys);
  }
  return sizes;
}

// Merges each block with its keys. Reorders `keys` as segment_kernels::merge says; they are no
// longer read, because buffers.sorted has them.
template <std::size_t parts>
merged_segment merge_into(const segment_shape& shape, const block_list& old,
                          const merge_order& order, std::size_t max_copies, std::span<hash64> keys,
                          const merge_sizes& sizes, merge_buffers& buffers) {
  const segment_shape merged_as = merged_shape(shape, order.slot_bits);
  const std::size_t bytes = sizes.used + sizes.used / merged_as.gaps.share;
  // The blocks do not get smaller than they were, unless the segment is split.
  const std::size_t room_before = parts == 1 ? old.block_offset(shape.blocks()) : 0;
  rebuilt_segment<parts> made(shape, merged_as, sizes.max_in_block, bytes + sizes.used / 8,
                              std::max(bytes, room_before) - bytes);
  // A split takes the remainder's lowest bit from the entry.
  const std::uint64_t marker = std::uint64_t{1} << (order.slot_bits - (parts == 1 ? 1 : 0));
  std::uint64_t* const held = buffers.held.data();
  std::uint64_t* const merged = buffers.merged.data();
  std::size_t leftover = 0;
  std::size_t next_placed = keys.size();
  std::size_t newly_inserted = 0;
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    std::size_t n = 0;
    for_block(shape, old.area(), old.block_offset(b), old.block_offset(b + 1),
              [&](unsigned cell, std::uint64_t entry) noexcept {
                held[n++] = std::uint64_t{cell} << cell_shift | entry;
              });
    std::size_t size = 0;
    std::size_t i = 0;
    for (const std::uint64_t above : keys_of_block(buffers, b)) {
      const std::uint64_t remainder = above >> shape.cell_bits;
      const std::uint64_t cell = low_bits(above, block_cell_bits);
      while (i < n && held[i] < (cell + 1) << cell_shift) merged[size++] = held[i++];
      std::size_t matching = 0;
      for (std::size_t k = size; k > 0 && cell_of(merged[k - 1]) == cell; --k) {
        matching += is_match(low_bits(merged[k - 1], cell_shift), remainder);
      }
      const hash64 h{above << order.level | order.segment};
      if (matching >= max_copies) [[unlikely]] {
        keys[leftover++] = h;
        continue;
      }
      newly_inserted += matching == 0;
      keys[--next_placed] = h;
      merged[size++] = cell << cell_shift | marker | (remainder & (marker - 1));
    }
    while (i < n) merged[size++] = held[i++];
    for (const std::uint64_t each : std::span(merged, size)) {
      made.add(b, cell_of(each), low_bits(each, cell_shift));
    }
    made.end_block(b);
  }
  const std::size_t placed = keys.size() - leftover;
  return {made.take(sizes.entries + placed), placed, newly_inserted};
}

std::optional<merged_segment> merge(const segment_shape& shape, std::span<const std::byte> segment,
                                    const merge_order& order, std::size_t max_copies,
                                    std::span<hash64> keys, merge_buffers& buffers) noexcept {
  bool is_sorted = false;
  try {
    const block_list old(shape, segment);
    sort_keys(shape, order.level, keys, buffers);
    is_sorted = true;
    const auto sizes = measure_merge(shape, old, buffers);
    if (!sizes) return std::nullopt;
    buffers.held.resize(sizes->max_in_block);
    buffers.merged.resize(sizes->max_in_block);
    const auto into = order.splits ? merge_into<4> : merge_into<1>;
    return into(shape, old, order, max_copies, keys, *sizes, buffers);
  } catch (const std::bad_alloc&) {
    for (std::size_t i = 0; is_sorted && i < keys.size(); ++i) {
      keys[i] = {buffers.sorted[i] << order.level | order.segment};
    }
    return std::nullopt;
  }
}
