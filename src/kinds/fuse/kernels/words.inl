// The words in which a group's fingerprints begin, loaded one by one: CPUs with NEON have no
// gather, and it is slow on many with AVX2.

constexpr std::size_t group = 32;
static_assert(group % lanes == 0);

struct alignas(64) word_places {
  std::array<lane_half, group> bytes;
  std::array<lane_half, group> bits;  // of these bytes

  // Of several keys from number i on.
  [[gnu::always_inline]] void put(std::size_t i, const lane_halves& first_bits) noexcept {
    store_lanes(&bytes[i], first_bits >> 3);
    store_lanes(&bits[i], first_bits & 7);
  }
  [[gnu::always_inline]] void prefetch(std::size_t i, const std::byte* from) const noexcept {
    for (std::size_t k = i; k < i + lanes; ++k) prefetch_line<0, 2>(from + bytes[k]);
  }
  // Shifted, so that the fingerprint comes first.
  [[gnu::always_inline]] lane_halves words(std::size_t i, const std::byte* from) const noexcept {
    lane_halves loaded{};
    for (std::size_t k = 0; k < lanes; ++k) {
      lane_half word = 0;
      std::memcpy(&word, from + bytes[i + k], sizeof word);
      loaded[k] = word;
    }
    return loaded >> load_halves(&bits[i]);
  }
};
