// Arithmetic on four keys at once in vectors of 128 bits, for kernels of NEON, which multiplies
// halves of 32 bits. The upper and the lower halves of four numbers are in a vector each.

struct four_words {
  uint32x4_t low;
  uint32x4_t high;
};

[[gnu::always_inline]] inline four_words load_four(const void* from) noexcept {
  const uint32x4x2_t halves = vld2q_u32(static_cast<const std::uint32_t*>(from));
  return {halves.val[0], halves.val[1]};
}

[[gnu::always_inline]] inline four_words operator^(const four_words& a,
                                                   const four_words& b) noexcept {
  return {veorq_u32(a.low, b.low), veorq_u32(a.high, b.high)};
}

// Both halves of the products of 32 bits.
[[gnu::always_inline]] inline four_words product(uint32x4_t a, uint32x4_t b) noexcept {
  const uint32x4_t first = vreinterpretq_u32_u64(vmull_u32(vget_low_u32(a), vget_low_u32(b)));
  const uint32x4_t second = vreinterpretq_u32_u64(vmull_high_u32(a, b));
  return {vuzp1q_u32(first, second), vuzp2q_u32(first, second)};
}

[[gnu::always_inline]] inline four_words operator*(const four_words& x,
                                                   std::uint64_t factor) noexcept {
  const uint32x4_t low = vdupq_n_u32(static_cast<std::uint32_t>(factor));
  const uint32x4_t high = vdupq_n_u32(static_cast<std::uint32_t>(factor >> 32));
  four_words made = product(x.low, low);
  made.high = vmlaq_u32(vmlaq_u32(made.high, x.low, high), x.high, low);
  return made;
}

// floor(x factor / 2^64) for factors below 2^32.
[[gnu::always_inline]] inline uint32x4_t scaled(const four_words& x, uint32x4_t factor) noexcept {
  const auto half = [](uint64x2_t low, uint64x2_t high) __attribute__((always_inline)) {
    return vreinterpretq_u32_u64(vsraq_n_u64(high, low, 32));
  };
  return vuzp2q_u32(half(vmull_u32(vget_low_u32(x.low), vget_low_u32(factor)),
                         vmull_u32(vget_low_u32(x.high), vget_low_u32(factor))),
                    half(vmull_high_u32(x.low, factor), vmull_high_u32(x.high, factor)));
}

// remix64 without its first step, x ^ x >> 32.
[[gnu::always_inline]] inline four_words remixed(four_words x) noexcept {
  constexpr std::uint64_t multiplier = 0x0e9846af9b1a615d;
  x = x * multiplier;
  x.low = veorq_u32(x.low, x.high);
  x = x * multiplier;
  const uint32x4_t low = vsriq_n_u32(vshlq_n_u32(x.high, 4), x.low, 28);  // of x >> 28
  return {veorq_u32(x.low, low), veorq_u32(x.high, vshrq_n_u32(x.high, 28))};
}
