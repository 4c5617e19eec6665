// Arithmetic on several keys at once, one in each lane of a vector. lanes256.inl and lanes512.inl
// define `lanes`, and `low_product`, the products of the lower halves of two vectors' lanes.
// lanes128.inl has the same functions for NEON, with other types.

using lane_words = std::uint64_t __attribute__((vector_size(8 * lanes)));
using lane_halves = lane_words;   // numbers below 2^32
using lane_half = std::uint64_t;  // one of them, in an array
using word_vector = lane_words;   // words of an array, in its order
constexpr std::size_t vector_words = lanes;
struct lane_products {
  // NOLINTNEXTLINE(modernize-avoid-c-arrays): an operator of std::array could be emitted.
  word_vector parts[1];
};

[[gnu::always_inline]] inline lane_words load_lanes(const void* from) noexcept {
  lane_words words;
  std::memcpy(&words, from, sizeof words);
  return words;
}
[[gnu::always_inline]] inline void store_lanes(void* to, const lane_words& words) noexcept {
  std::memcpy(to, &words, sizeof words);
}
[[gnu::always_inline]] inline lane_halves load_halves(const lane_half* from) noexcept {
  return load_lanes(from);
}
[[gnu::always_inline]] inline lane_halves halves_of(std::uint64_t half) noexcept {
  // The compiler has to see that the number is below 2^32: clang multiplies others by VPMULLQ.
  return lane_halves{} + static_cast<std::uint32_t>(half);
}

// x ^ x >> 32.
[[gnu::always_inline]] inline lane_words folded(const lane_words& x) noexcept {
  return x ^ x >> 32;
}
// The upper n bits. Precondition: 0 < n <= 32.
[[gnu::always_inline]] inline lane_halves top_bits(const lane_words& x, unsigned n) noexcept {
  return x >> (64 - n);
}
// Bits `by` to `by` + 31, and perhaps others above them. Precondition: by < 64.
[[gnu::always_inline]] inline lane_halves bits_from(const lane_words& x, unsigned by) noexcept {
  return x >> by;
}
[[gnu::always_inline]] inline lane_words widened(const lane_halves& x) noexcept {
  return x;
}

// floor(x factor / 2^64) for factors below 2^32.
[[gnu::always_inline]] inline lane_halves scaled(const lane_words& x,
                                                 const lane_halves& factor) noexcept {
  return (low_product(x >> 32, factor) + (low_product(x, factor) >> 32)) >> 32;
}

// remix64 without its first step, x ^ x >> 32.
[[gnu::always_inline]] inline lane_words remixed(lane_words x) noexcept {
  x *= remix_factor64;
  x = (x ^ x >> 32) * remix_factor64;
  return x ^ x >> 28;
}

// The products of two vectors' halves: below 2^32, or as 64-bit words in an array.
[[gnu::always_inline]] inline lane_halves half_product(const lane_halves& a,
                                                       const lane_halves& b) noexcept {
  return low_product(a, b);
}
[[gnu::always_inline]] inline lane_words halves_of(const lane_products& x) noexcept {
  return x.parts[0];
}
[[gnu::always_inline]] inline lane_products products(const lane_halves& a,
                                                     const lane_halves& b) noexcept {
  return {{low_product(a, b)}};
}
