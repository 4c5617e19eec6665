#if defined(__aarch64__)

#include <arm_neon.h>

#include <bloomset/detail/retrieval/kernels.hpp>

// Every ARM64 CPU has these instructions, so there is no target region.

namespace bloomset::detail {
namespace retrieval_neon {
namespace {

#include "kinds/retrieval/kernels/columns_first.inl"

// A word for each column, the bits of the row in it counted. Reads 64 bytes.
inline std::uint32_t value_of_words(const std::byte* slots, std::uint32_t columns,
                                    std::uint64_t row) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(slots);
  const uint8x16x4_t all = vld1q_u8_x4(bytes);
  const uint8x16x4_t order = vld1q_u8_x4(columns_first.by_columns[columns]);
  const uint8x16_t rows = vreinterpretq_u8_u64(vdupq_n_u64(row));
  const auto ones = [&](int i) { return vcntq_u8(vandq_u8(vqtbl4q_u8(all, order.val[i]), rows)); };
  const uint8x16_t sums = vpaddq_u8(vpaddq_u8(ones(0), ones(1)), vpaddq_u8(ones(2), ones(3)));
  const std::uint64_t counts = vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)), 0);
  const std::uint64_t parities = (counts & 0x0101010101010101) * 0x0102040810204080;
  return static_cast<std::uint32_t>(parities >> 56) & column_mask(columns);
}

// A vector for each group, of up to 16 columns. Reads at most 16 bytes beyond the slots.
inline std::uint32_t value_of_groups(const std::byte* slots, std::uint32_t columns,
                                     std::uint64_t row) {
  const uint8x8_t rows = vcreate_u8(row);
  std::uint32_t value = 0;
  for (std::uint32_t first = 0; first < columns; first += 16) {
    const auto* at = reinterpret_cast<const std::uint8_t*>(slots) + first;
    const auto next = [&](uint8x16_t mask) {
      const uint8x16_t masked = vandq_u8(vld1q_u8(at), mask);
      at += columns;
      return masked;
    };
    uint8x16_t sum = next(vdupq_lane_u8(rows, 0));
    sum = veorq_u8(sum, next(vdupq_lane_u8(rows, 1)));
    sum = veorq_u8(sum, next(vdupq_lane_u8(rows, 2)));
    sum = veorq_u8(sum, next(vdupq_lane_u8(rows, 3)));
    sum = veorq_u8(sum, next(vdupq_lane_u8(rows, 4)));
    sum = veorq_u8(sum, next(vdupq_lane_u8(rows, 5)));
    sum = veorq_u8(sum, next(vdupq_lane_u8(rows, 6)));
    sum = veorq_u8(sum, next(vdupq_lane_u8(rows, 7)));
    // The lowest bit of byte i to bit i mod 8, then the sums of eight bytes.
    const int8x16_t places = vreinterpretq_s8_u64(vdupq_n_u64(0x0706050403020100));
    uint8x16_t bits = vshlq_u8(vandq_u8(vcntq_u8(sum), vdupq_n_u8(1)), places);
    for (int i = 0; i < 3; ++i) bits = vpaddq_u8(bits, bits);
    value |= std::uint32_t{vgetq_lane_u16(vreinterpretq_u16_u8(bits), 0)} << first;
  }
  return value & column_mask(columns);
}

inline std::uint32_t value(const std::byte* slots, std::uint32_t columns, std::uint64_t row) {
  return columns <= 8 ? value_of_words(slots, columns, row) : value_of_groups(slots, columns, row);
}
inline std::size_t bytes_read(std::uint32_t columns) {
  const std::uint32_t last = columns <= 16 ? 0 : 16;  // of the groups of columns
  return columns <= 8 ? 64 : std::size_t{7} * columns + last + 16;
}

#include "kinds/retrieval/kernels/loops.inl"

}  // namespace
}  // namespace retrieval_neon

const retrieval_kernels retrieval_kernels::vector128 = retrieval_neon::kernels;

}  // namespace bloomset::detail

#endif
