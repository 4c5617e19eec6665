// The words in which a group's fingerprints begin. The including kernel defines
//   words_at(from, bits)   words that begin at these bits' bytes, shifted so that the bit comes
//   first

constexpr std::size_t group = 32;
static_assert(group % lanes == 0);

struct alignas(64) word_places {
  std::array<lane_half, group> bits;

  // Of several keys from number i on.
  [[gnu::always_inline]] void put(std::size_t i, const lane_halves& first_bits) noexcept {
    store_lanes(&bits[i], first_bits);
  }
  [[gnu::always_inline]] void prefetch(std::size_t i, const std::byte* from) const noexcept {
    for (std::size_t k = i; k < i + lanes; ++k) prefetch_line(from + (bits[k] >> 3));
  }
  [[gnu::always_inline]] lane_halves words(std::size_t i, const std::byte* from) const noexcept {
    return words_at(from, &bits[i]);
  }
};
