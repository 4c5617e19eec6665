#pragma once

// m counters of w = 4, 8 or 16 bits, one after the other in little-endian order. Counter i has the
// bits [i w, (i+1) w), so the low half of a byte comes first. Bits beyond the last counter are
// zero. A counter at its maximum is stuck: its true value is no longer known.

#include <bloomset/detail/core/bits.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace bloomset::detail {

constexpr bool is_counter_width(unsigned width) noexcept {
  return width == 4 || width == 8 || width == 16;
}

/// The layout for one width, a stateless struct over bytes.
template <unsigned Width>
struct counter_array {
  static_assert(is_counter_width(Width));
  static constexpr unsigned width = Width;
  static constexpr unsigned maximum = (1U << Width) - 1;

  /// The byte where counter i begins.
  static constexpr std::uint64_t offset(std::uint64_t i) noexcept {
    return Width == 4 ? i >> 1 : i * (Width / 8);
  }

  static unsigned get(const std::byte* bytes, std::uint64_t i) noexcept {
    return static_cast<unsigned>(load<cell>(bytes + offset(i))) >> shift(i) & maximum;
  }

  /// Adds 1, unless the counter is at its maximum. Returns the value before.
  static unsigned increment(std::byte* bytes, std::uint64_t i) noexcept {
    const unsigned was = get(bytes, i);
    if (was != maximum) set(bytes, i, was + 1);
    return was;
  }

  /// Subtracts 1, unless the counter is at its maximum. Precondition: it is not zero.
  static void decrement(std::byte* bytes, std::uint64_t i) noexcept {
    const unsigned was = get(bytes, i);
    if (was != maximum) set(bytes, i, was - 1);
  }

  /// The number of counters that are not zero. Processes a word of them at a time.
  static std::uint64_t count_non_zero(std::span<const std::byte> bytes) noexcept {
    return count_words(bytes, [](std::uint64_t word, unsigned by) { return word | word >> by; });
  }

  /// The number of counters at their maximum.
  static std::uint64_t count_stuck(std::span<const std::byte> bytes) noexcept {
    return count_words(bytes, [](std::uint64_t word, unsigned by) { return word & word >> by; });
  }

  /// Adds each counter of `from` to that of `into`, up to the maximum; a stuck one stays stuck.
  /// Precondition: equal sizes. Both may be the same bytes.
  static void add(std::span<std::byte> into, std::span<const std::byte> from) noexcept {
    const std::size_t whole = into.size() / word_bytes * word_bytes;
    for (std::size_t at = 0; at < whole; at += word_bytes) {
      store(into.data() + at,
            sum(load<std::uint64_t>(into.data() + at), load<std::uint64_t>(from.data() + at)));
    }
    store_tail(into.subspan(whole),
               sum(load_tail(into.subspan(whole)), load_tail(from.subspan(whole))));
  }

 private:
  using cell = std::conditional_t<Width == 16, std::uint16_t, std::uint8_t>;
  static constexpr std::size_t word_bytes = 8;

  /// The lowest bit of each counter of a word.
  static constexpr std::uint64_t lowest_bits = ~std::uint64_t{0} / maximum;

  static constexpr unsigned shift(std::uint64_t i) noexcept {
    return Width == 4 ? static_cast<unsigned>(i & 1) * 4 : 0;
  }

  static void set(std::byte* bytes, std::uint64_t i, unsigned value) noexcept {
    const unsigned others = load<cell>(bytes + offset(i)) & ~(maximum << shift(i));
    store(bytes + offset(i), static_cast<cell>(others | value << shift(i)));
  }

  // The tail of an array as a word, with zeros beyond it. Zero counters count neither as non-zero
  // nor as stuck, and add nothing.
  static std::uint64_t load_tail(std::span<const std::byte> tail) noexcept {
    std::uint64_t word = 0;
    if (!tail.empty()) std::memcpy(&word, tail.data(), tail.size());
    return word;
  }
  static void store_tail(std::span<std::byte> tail, std::uint64_t word) noexcept {
    if (!tail.empty()) std::memcpy(tail.data(), &word, tail.size());
  }

  // Folds each counter into its lowest bit, with "or" (is any bit set?) or "and" (are all set?).
  // After shifts by 1, 2, 4, ... the lowest bit has combined exactly the counter's own bits.
  template <class Fold>
  static std::uint64_t count_words(std::span<const std::byte> bytes, Fold fold) noexcept {
    const auto count = [fold](std::uint64_t word) {
      for (unsigned by = 1; by < Width; by *= 2) word = fold(word, by);
      return count_ones(word & lowest_bits);
    };
    std::uint64_t total = 0;
    for (; bytes.size() >= word_bytes; bytes = bytes.subspan(word_bytes)) {
      total += count(load<std::uint64_t>(bytes.data()));
    }
    return total + count(load_tail(bytes));
  }

  // The highest bits are added apart, so that no carry leaves its counter. A carry out of a counter
  // (H. S. Warren, "Hacker's Delight", chapter 2) sets all its bits.
  static constexpr std::uint64_t sum(std::uint64_t a, std::uint64_t b) noexcept {
    constexpr std::uint64_t highest_bits = lowest_bits << (Width - 1);
    const std::uint64_t total =
        ((a & ~highest_bits) + (b & ~highest_bits)) ^ ((a ^ b) & highest_bits);
    const std::uint64_t carries = ((a & b) | ((a | b) & ~total)) & highest_bits;
    return total | (carries >> (Width - 1)) * maximum;
  }
};

/// Calls `use` with the layout for a width that is known at run time: one predictable branch.
/// Precondition: is_counter_width(width).
template <class Use>
decltype(auto) with_counters(unsigned width, Use&& use) noexcept {
  switch (width) {
    case 4:
      return use(counter_array<4>());
    case 8:
      return use(counter_array<8>());
    default:
      return use(counter_array<16>());
  }
}

}  // namespace bloomset::detail
