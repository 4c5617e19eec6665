// Checks a segment from outside the program. Functions that write to segments rely on its form.
// Included behind build.inl.

// The entries of the block [begin, end) of an area, or nothing if it is not well formed: a code,
// zeros, and slots that are not zero.
std::optional<std::size_t> check_block(const segment_shape& shape, const std::byte* area,
                                       std::size_t begin, std::size_t end) noexcept {
  const std::byte* const block = area + begin;
  const std::size_t bytes = end - begin;
  const std::size_t last = find_zero(block, bytes, block_cells);
  if (last == 8 * bytes || (load<std::uint8_t>(block) & 1) != 0) return std::nullopt;
  const std::size_t n = last - block_cells;
  if (n > max_block_entries || shape.block_bytes(n) > bytes) return std::nullopt;
  const std::size_t slots = 8 * bytes - n * shape.slot_bits;
  for (std::size_t at = code_bits(n); at < slots; at += max_slot_bits) {
    const auto piece = std::min<std::size_t>(max_slot_bits, slots - at);
    if (get_bits(block, at, static_cast<unsigned>(piece)) != 0) return std::nullopt;
  }
  for (std::size_t i = 1; i <= n; ++i) {
    if (get_bits(area, 8 * end - i * shape.slot_bits, shape.slot_bits) == 0) return std::nullopt;
  }
  return n;
}

std::optional<std::size_t> check(const segment_shape& shape,
                                 std::span<const std::byte> segment) noexcept {
  if (segment.size() < shape.min_bytes()) return std::nullopt;
  const segment_view view(shape, segment);
  std::size_t entries = 0;
  if (view.block_offset(0) != 0) return std::nullopt;
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    const std::size_t begin = view.block_offset(b);
    const std::size_t end = view.block_offset(b + 1);
    if (!view.is_inside(begin, end)) return std::nullopt;
    const auto n = check_block(shape, view.area(), begin, end);
    if (!n) return std::nullopt;
    entries += *n;
  }
  const std::size_t area = view.block_offset(shape.blocks());
  if (segment.size() != shape.stored_bytes(area) ||
      !is_zero(segment.subspan(shape.offset_bytes() + area))) {
    return std::nullopt;
  }
  return entries;
}
