// The functions of lanes.inl for NEON, which multiplies halves of 32 bits: the lower and the upper
// halves of four keys' numbers are in a vector each.

constexpr std::size_t lanes = 4;

struct lane_words {
  uint32x4_t low;
  uint32x4_t high;
};
using lane_halves = uint32x4_t;
using lane_half = std::uint32_t;
using word_vector = uint64x2_t;
constexpr std::size_t vector_words = 2;
struct lane_products {
  word_vector parts[lanes / vector_words];
};

[[gnu::always_inline]] inline lane_words load_lanes(const void* from) noexcept {
  const uint32x4x2_t halves = vld2q_u32(static_cast<const std::uint32_t*>(from));
  return {halves.val[0], halves.val[1]};
}
[[gnu::always_inline]] inline lane_halves load_halves(const lane_half* from) noexcept {
  return vld1q_u32(from);
}
[[gnu::always_inline]] inline lane_halves halves_of(std::uint64_t half) noexcept {
  return vdupq_n_u32(static_cast<std::uint32_t>(half));
}
[[gnu::always_inline]] inline void store_lanes(void* to, const lane_words& x) noexcept {
  vst2q_u32(static_cast<std::uint32_t*>(to), (uint32x4x2_t{{x.low, x.high}}));
}
[[gnu::always_inline]] inline void store_lanes(void* to, lane_halves x) noexcept {
  vst1q_u32(static_cast<std::uint32_t*>(to), x);
}

[[gnu::always_inline]] inline lane_words operator^(const lane_words& x, std::uint64_t y) noexcept {
  return {x.low ^ static_cast<std::uint32_t>(y), x.high ^ static_cast<std::uint32_t>(y >> 32)};
}
[[gnu::always_inline]] inline lane_words folded(const lane_words& x) noexcept {
  return {x.low ^ x.high, x.high};
}
[[gnu::always_inline]] inline lane_halves top_bits(const lane_words& x, unsigned n) noexcept {
  return x.high >> (32 - n);
}
[[gnu::always_inline]] inline lane_halves bits_from(const lane_words& x, unsigned by) noexcept {
  // Shifts by 32 and more give zero, in either direction.
  const int left = 32 - static_cast<int>(by);
  return vshlq_u32(x.low, vdupq_n_s32(left - 32)) | vshlq_u32(x.high, vdupq_n_s32(left));
}
[[gnu::always_inline]] inline lane_words widened(lane_halves x) noexcept {
  return {x, x ^ x};
}

[[gnu::always_inline]] inline lane_words operator*(const lane_words& x,
                                                   std::uint64_t factor) noexcept {
  const uint32x4_t low = halves_of(factor & 0xffffffff);
  const uint32x4_t high = halves_of(factor >> 32);
  const auto first = vreinterpretq_u32_u64(vmull_u32(vget_low_u32(x.low), vget_low_u32(low)));
  const auto second = vreinterpretq_u32_u64(vmull_high_u32(x.low, low));
  const uint32x4_t carried = vuzp2q_u32(first, second);
  return {vuzp1q_u32(first, second), vmlaq_u32(vmlaq_u32(carried, x.low, high), x.high, low)};
}

[[gnu::always_inline]] inline lane_halves scaled(const lane_words& x, lane_halves factor) noexcept {
  const auto half = [](uint64x2_t low, uint64x2_t high) __attribute__((always_inline)) {
    return vreinterpretq_u32_u64(vsraq_n_u64(high, low, 32));
  };
  return vuzp2q_u32(half(vmull_u32(vget_low_u32(x.low), vget_low_u32(factor)),
                         vmull_u32(vget_low_u32(x.high), vget_low_u32(factor))),
                    half(vmull_high_u32(x.low, factor), vmull_high_u32(x.high, factor)));
}

[[gnu::always_inline]] inline lane_words remixed(lane_words x) noexcept {
  x = folded(x * remix_factor64) * remix_factor64;
  const uint32x4_t low = vsriq_n_u32(vshlq_n_u32(x.high, 4), x.low, 28);  // of x >> 28
  return {x.low ^ low, x.high ^ x.high >> 28};
}

[[gnu::always_inline]] inline lane_halves half_product(lane_halves a, lane_halves b) noexcept {
  return vmulq_u32(a, b);
}
[[gnu::always_inline]] inline lane_products products(lane_halves a, lane_halves b) noexcept {
  return {{vmull_u32(vget_low_u32(a), vget_low_u32(b)), vmull_high_u32(a, b)}};
}

// Not zero where a word is not.
[[gnu::always_inline]] inline lane_halves halves_of(const lane_products& x) noexcept {
  return vpmaxq_u32(vreinterpretq_u32_u64(x.parts[0]), vreinterpretq_u32_u64(x.parts[1]));
}

template <bool Zero>
[[gnu::always_inline]] inline void store_answers(bool* to, lane_halves x) noexcept {
  const uint16x4_t answers = vmovn_u32(Zero ? vceqzq_u32(x) : vtstq_u32(x, x));
  const uint8x8_t bytes = vmovn_u16(vcombine_u16(answers, answers)) & 1;
  const std::uint32_t four = vget_lane_u32(vreinterpret_u32_u8(bytes), 0);
  std::memcpy(to, &four, sizeof four);
}
