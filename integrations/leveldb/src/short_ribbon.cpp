#include "short_ribbon.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

namespace bloomset::leveldb_entries {
namespace {

__extension__ using wide = unsigned __int128;

constexpr wide wide_of(std::uint64_t upper, std::uint64_t lower) noexcept {
  return static_cast<wide>(upper) << 64 | lower;
}

constexpr bool parity(wide x) noexcept {
  return std::popcount(static_cast<std::uint64_t>(x ^ (x >> 64))) % 2 != 0;
}

constexpr int trailing_zeros(wide x) noexcept {
  const auto lower = static_cast<std::uint64_t>(x);
  return lower != 0 ? std::countr_zero(lower)
                    : 64 + std::countr_zero(static_cast<std::uint64_t>(x >> 64));
}

/// An equation: the XOR of the slots start + i, for each bit i of `chosen`, is `result`.
struct equation {
  std::uint64_t start = 0;
  wide chosen = 0;
  std::uint32_t result = 0;
};

/// The equation of a hash: start, chosen slots and result. Part of the format.
equation equation_of(const short_ribbon& shape, hash64 h) noexcept {
  const auto word = [&](unsigned i) noexcept {
    return with_hash(xxh3_hasher(std::uint64_t{shape.seed} * 3 + i), h.value,
                     [](hash64 w) noexcept { return w.value; });
  };
  const std::uint64_t width = std::min(shape.slots, window);
  const std::uint64_t starts = shape.slots - width + 1;
  const std::uint64_t first = word(0);
  wide chosen = wide_of(word(1), word(2));
  if (width < window) chosen &= (wide{1} << width) - 1;
  // If starts differ, the first slot is always chosen, so that each start matters.
  if (starts > 1) chosen |= 1;
  const auto result_mask = static_cast<std::uint32_t>((std::uint64_t{1} << shape.columns) - 1);
  return {static_cast<std::uint64_t>((static_cast<wide>(first) * starts) >> 64), chosen,
          static_cast<std::uint32_t>(first) & result_mask};
}

/// 128 bits from bit `at` on; those past the end are zero.
wide bits_at(std::span<const std::byte> bytes, std::uint64_t at) noexcept {
  const std::uint64_t first = at / 8;
  std::array<std::byte, 17> some{};
  std::memcpy(some.data(), bytes.data() + first,
              std::min<std::uint64_t>(some.size(), bytes.size() - first));
  std::array<std::uint64_t, 2> words{};
  std::memcpy(words.data(), some.data(), 16);
  const unsigned shift = at % 8;
  const wide value = wide_of(words[1], words[0]) >> shift;
  return shift == 0 ? value : value | static_cast<wide>(some[16]) << (128 - shift);
}

/// Adds the equations of the hashes to rows by their first slot, reduced so that no two have the
/// same one. False on a contradiction.
bool eliminate(const short_ribbon& shape, std::span<const hash64> hashes,
               std::vector<equation>& rows) {
  for (const hash64 h : hashes) {
    equation e = equation_of(shape, h);
    while (e.chosen != 0) {
      const int zeros = trailing_zeros(e.chosen);
      e.start += static_cast<std::uint64_t>(zeros);
      e.chosen >>= zeros;
      equation& row = rows[e.start];
      if (row.chosen == 0) {
        row = e;
        break;
      }
      e.chosen ^= row.chosen;
      e.result ^= row.result;
    }
    // Without slots left, the equation follows from the others or contradicts them.
    if (e.chosen == 0 && e.result != 0) return false;
  }
  return true;
}

}  // namespace

std::uint64_t min_slots(std::uint64_t n) noexcept {
  return n <= window ? n : n + n / 64;
}

bool solve(const short_ribbon& shape, std::span<const hash64> hashes, std::span<std::byte> bits) {
  std::vector<equation> rows(shape.slots);
  if (!eliminate(shape, hashes, rows)) return false;
  // From the last slot to the first. `known` has the 128 slots after the current one.
  std::array<wide, max_columns> known{};
  for (std::uint64_t slot = shape.slots; slot-- != 0;) {
    const equation& row = rows[slot];
    for (unsigned c = 0; c < shape.columns; ++c) {
      // The row's own bit 0 is multiplied by the zero that is shifted in.
      known[c] <<= 1;
      const bool value =
          row.chosen != 0 && (parity(row.chosen & known[c]) != ((row.result >> c & 1) != 0));
      known[c] |= static_cast<unsigned>(value);
      const std::uint64_t at = c * shape.slots + slot;
      bits[at / 8] |= static_cast<std::byte>(unsigned{value} << at % 8);
    }
  }
  return true;
}

bool may_contain(const short_ribbon& shape, std::span<const std::byte> bits, hash64 h) noexcept {
  const equation e = equation_of(shape, h);
  for (unsigned c = 0; c < shape.columns; ++c) {
    const wide slots = bits_at(bits, c * shape.slots + e.start);
    if (parity(slots & e.chosen) != ((e.result >> c & 1) != 0)) return false;
  }
  return true;
}

}  // namespace bloomset::leveldb_entries
