// Arithmetic on several keys at once, one in each lane of a vector. lanes256.inl and lanes512.inl
// define `lanes`, and `low_product`, the products of the lower halves of two vectors' lanes.

using lane_words = std::uint64_t __attribute__((vector_size(8 * lanes)));

// floor(x factor / 2^32) for factors below 2^32.
[[gnu::always_inline]] inline lane_words scaled(const lane_words& x,
                                                const lane_words& factor) noexcept {
  return low_product(x >> 32, factor) + (low_product(x, factor) >> 32);
}

// remix64 without its first step, x ^ x >> 32.
[[gnu::always_inline]] inline lane_words remixed(lane_words x) noexcept {
  constexpr std::uint64_t multiplier = 0x0e9846af9b1a615d;
  x *= multiplier;
  x = (x ^ x >> 32) * multiplier;
  return x ^ x >> 28;
}

[[gnu::always_inline]] inline lane_words load_lanes(const void* from) noexcept {
  lane_words words;
  std::memcpy(&words, from, sizeof words);
  return words;
}
[[gnu::always_inline]] inline void store_lanes(void* to, const lane_words& words) noexcept {
  std::memcpy(to, &words, sizeof words);
}
