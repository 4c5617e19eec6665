#pragma once

// One segment of an expandable filter, as bytes, and how a query reads it.
//
// A key's hash is read from its lowest bit on: the first bits choose the segment, the next ones a
// cell in it, and of the rest an entry keeps a prefix, its remainder. When a segment is split, the
// cell's lowest bit becomes one of the segment's, and the remainder's first bit joins the cell at
// the top: no key is needed for it, and each entry becomes one bit shorter.
//
//     starts[0 .. B]   u16 each     | block 0 | block 1 | ... | block B - 1 | padding, 0
//     block b: bytes [starts[b], starts[b + 1]) of what follows the starts; 32 cells
//
//     | 0 1..1 0 1..1 0 ... 0 | zeros | entry n - 1 | ... | entry 1 | entry 0 |
//       from its first byte on: a zero, then a one for each entry of a cell and a zero at the
//       cell's end                      up to its last byte: slots of w bits, the highest last
//
// The gap between the two is what an insert fills; where there is none, a few blocks behind move
// by a byte or two into theirs. An entry is its remainder under a one that marks its length, so
// that 1 is the entry that has no bits left and matches its whole cell.

#include <algorithm>
#include <array>
#include <bit>
#include <bloomery/detail/core/bits.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::detail {

inline constexpr unsigned block_cell_bits = 5;
inline constexpr unsigned block_cells = 1U << block_cell_bits;
/// What is read at once of a block's code, whatever its length.
inline constexpr std::size_t code_read = 16;
/// What a start can name.
inline constexpr std::size_t max_segment_area = 65535;
/// What segment_layout can count. Only slots of up to 6 bits leave room for more in a segment.
inline constexpr std::size_t max_block_entries = 65535;
/// The longest slot that one unaligned 64-bit read always has whole.
inline constexpr unsigned max_slot_bits = 57;

constexpr std::uint64_t low_bits(std::uint64_t x, unsigned n) noexcept {
  return x & ((std::uint64_t{1} << n) - 1);
}

/// The place of the k-th one (from 0) of a word. Precondition: it has more than k. Sideways sums of
/// bytes find the byte (Vigna, "Broadword Implementation of Rank/Select Queries", 2008).
constexpr unsigned select_one(std::uint64_t x, unsigned k) noexcept {
  constexpr std::uint64_t ones = 0x0101010101010101;
  std::uint64_t sums = x - ((x >> 1) & 0x5555555555555555);
  sums = (sums & 0x3333333333333333) + ((sums >> 2) & 0x3333333333333333);
  sums = ((sums + (sums >> 4)) & 0x0f0f0f0f0f0f0f0f) * ones;
  const std::uint64_t at_most = (((k * ones) | (ones << 7)) - sums) & (ones << 7);
  const auto byte = static_cast<unsigned>(((at_most >> 7) * ones) >> 56) * 8;
  unsigned rest = k - static_cast<unsigned>((sums << 8) >> byte & 0xff);
  std::uint64_t here = x >> byte;
  for (; rest != 0; --rest) here &= here - 1;
  return byte + static_cast<unsigned>(std::countr_zero(here));
}

/// How many ones a word has, without an instruction for it.
constexpr unsigned count_ones(std::uint64_t x) noexcept {
  x = x - ((x >> 1) & 0x5555555555555555);
  x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333);
  return static_cast<unsigned>((((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101) >> 56);
}

/// Up to 57 bits from bit `at` on. Reads 8 bytes.
inline std::uint64_t get_bits(const std::byte* from, std::size_t at, unsigned n) noexcept {
  return low_bits(load<std::uint64_t>(from + (at >> 3)) >> (at & 7), n);
}

/// A cell's entries: the first one's number in the block, and how many there are.
struct cell_run {
  std::size_t first;
  std::size_t size;
};

/// Whether the entry's remainder begins the remainder `rest`. Zero, which is no entry, never does.
constexpr bool is_match(std::uint64_t entry, std::uint64_t rest) noexcept {
  const auto marker = std::bit_floor(entry);
  return entry != 0 && ((entry ^ rest) & (marker - 1)) == 0;
}

/// How large the gaps are that blocks get when a segment is laid out. It is nothing that a reader
/// needs to know.
struct gap_plan {
  unsigned share;        ///< a byte for so many that are used,
  unsigned max_entries;  ///< but on average for no more entries than these in a block
};
/// Where 16 bits a key are promised.
inline constexpr gap_plan narrow_gaps{12, 3};
/// 0.9 bits per key more, so that inserts find room nearer (docs/decisions/expandable-segments.md).
inline constexpr gap_plan wide_gaps{6, 6};
/// Where the growth is known, memory is asked to be little; where it is not (0), inserts to be
/// fast.
constexpr gap_plan gaps_for(double growth) noexcept {
  return growth == 0 ? wide_gaps : narrow_gaps;
}
/// Where there is no room for any.
inline constexpr gap_plan no_gaps{max_segment_area + 1, 0};

/// A segment's cells and slots.
struct segment_shape {
  unsigned cell_bits;  ///< 5 .. 14
  unsigned slot_bits;  ///< w, a remainder and its marker: 2 .. max_slot_bits
  gap_plan gaps = narrow_gaps;

  std::size_t blocks() const noexcept { return std::size_t{1} << (cell_bits - block_cell_bits); }
  std::size_t table_bytes() const noexcept { return 2 * (blocks() + 1); }
  /// Zeros behind the last block, at least, so that reads of its code are inside. A single block
  /// begins where its code does and may be as small as the filter: it has those that a read of 8
  /// bytes at its last one needs.
  std::size_t padding() const noexcept { return blocks() == 1 ? 7 : code_read; }
  /// All that a segment with so many bytes of blocks takes: whole words.
  std::size_t stored_bytes(std::size_t area) const noexcept {
    return round_up(table_bytes() + std::max(area + padding(), code_read), 8);
  }
  std::size_t min_bytes() const noexcept { return stored_bytes(0); }
  /// The largest gap that a block needs on average.
  std::size_t max_gap() const noexcept {
    return std::max<std::size_t>(2, std::size_t{gaps.max_entries} * slot_bits / 8);
  }
  /// The most bytes of blocks that so many stored ones have room for.
  std::size_t area_within(std::size_t stored) const noexcept {
    return stored - table_bytes() - padding();
  }
};

/// The largest segment: 2^14 cells, and all that its starts can name.
inline constexpr std::size_t max_segment_bytes =
    round_up(2 * ((std::size_t{1} << 9) + 1) + max_segment_area + code_read, 8);

#include <bloomery/detail/expandable/segment_view.inl>

}  // namespace bloomery::detail
