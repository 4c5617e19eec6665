// Bits of a segment, moved by words. Included first of the parts of loops.inl, into a namespace
// that has select_one and count_ones.

#include <bloomset/detail/expandable/segment_view.inl>

constexpr std::size_t code_bits(std::size_t entries) {
  return block_cells + 1 + entries;
}

void put_bits(std::byte* to, std::size_t at, std::uint64_t value, unsigned n) noexcept {
  std::byte* const word = to + (at >> 3);
  const auto shift = static_cast<unsigned>(at & 7);
  const std::uint64_t mask = ((std::uint64_t{1} << n) - 1) << shift;
  store(word, (load<std::uint64_t>(word) & ~mask) | (value << shift & mask));
}

// n bits from bit `at` on, n <= 64, and others above them. Reads 8 bytes, or 9 if n needs them.
std::uint64_t get_word(const std::byte* from, std::size_t at, std::size_t n) noexcept {
  const std::byte* const byte = from + (at >> 3);
  const auto shift = static_cast<unsigned>(at & 7);
  std::uint64_t word = load<std::uint64_t>(byte) >> shift;
  if (shift + n > 64) word |= std::uint64_t{load<std::uint8_t>(byte + 8)} << (64 - shift);
  return word;
}

// Moves n bits from bit `from` to bit `to`, by whole words of the target, each written once: a load
// that overlaps a store of another width waits until the store has left the core's buffer.
void move_bits(std::byte* in, std::size_t from, std::size_t n, std::size_t to) noexcept {
  if (n == 0) return;
  std::byte* const first = in + (to >> 3);
  const std::size_t before = to & 7;
  const std::size_t words = (before + n + 63) / 64;
  const auto move_word = [&](std::size_t k) noexcept {
    const std::uint64_t moved = k == 0 ? get_word(in, from, std::min(n, 64 - before)) << before
                                       : get_word(in, from + 64 * k - before,
                                                  std::min<std::size_t>(64, before + n - 64 * k));
    std::uint64_t mask = k == 0 ? ~std::uint64_t{0} << before : ~std::uint64_t{0};
    if (k + 1 == words) mask &= ~std::uint64_t{0} >> (64 * words - before - n);
    std::byte* const word = first + 8 * k;
    store(word, (load<std::uint64_t>(word) & ~mask) | (moved & mask));
  };
  if (to < from) {
    for (std::size_t k = 0; k < words; ++k) move_word(k);
  } else {
    for (std::size_t k = words; k-- > 0;) move_word(k);
  }
}

// The slots of a block, which end at bit `end` of an area of `bytes` bytes with its padding.
struct slot_row {
  std::byte* area;
  std::size_t bytes;
  std::size_t end;
  unsigned slot_bits;
};

// Inserts an entry as number `at` of n. Precondition: the bits below the last slot are zero, up to
// the next byte boundary below the new last slot.
void push_slot_by_words(const slot_row& row, std::size_t n, std::size_t at,
                        std::uint64_t entry) noexcept {
  const std::size_t w = row.slot_bits;
  move_bits(row.area, row.end - n * w, (n - at) * w, row.end - (n + 1) * w);
  put_bits(row.area, row.end - (at + 1) * w, entry, row.slot_bits);
}
