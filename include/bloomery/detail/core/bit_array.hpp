#pragma once

// m bits in bytes: bit p is bit p mod 8 of byte p / 8. Every bit array in a payload has this
// layout.

#include <bit>
#include <bloomery/detail/core/bits.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::detail {

inline bool test_bit(const std::byte* bits, std::uint64_t p) noexcept {
  return (std::to_integer<unsigned>(bits[p >> 3]) >> (p & 7) & 1U) != 0;
}

/// Sets a bit. Returns whether it was clear.
inline bool set_bit(std::byte* bits, std::uint64_t p) noexcept {
  const auto mask = static_cast<std::byte>(1U << (p & 7));
  const bool was_clear = (bits[p >> 3] & mask) == std::byte{0};
  bits[p >> 3] |= mask;
  return was_clear;
}

inline std::uint64_t count_ones(std::span<const std::byte> bits) noexcept {
  std::uint64_t ones = 0;
  std::size_t at = 0;
  for (; at + 8 <= bits.size(); at += 8) {
    ones += static_cast<unsigned>(std::popcount(load<std::uint64_t>(bits.data() + at)));
  }
  for (; at < bits.size(); ++at) {
    ones += static_cast<unsigned>(std::popcount(std::to_integer<unsigned>(bits[at])));
  }
  return ones;
}

/// Whether the bits of the last byte beyond m are zero. Precondition: m > 0.
inline bool padding_is_zero(std::span<const std::byte> bits, std::uint64_t m) noexcept {
  return m % 8 == 0 || std::to_integer<unsigned>(bits.back()) >> (m % 8) == 0;
}

}  // namespace bloomery::detail
