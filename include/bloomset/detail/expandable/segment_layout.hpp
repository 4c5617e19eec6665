#pragma once

/// The bytes of one segment of an expandable filter.
///
/// A key's hash is read from its lowest bit on:
///
///     | segment: level or level + 1 bits | cell: cell_bits | the key's remainder: all others |
///
/// An entry keeps the lowest bits of its key's remainder. A split gives the cell's lowest bit to
/// the segment's number and the remainder's lowest bit to the cell, as its highest. So a split
/// needs no keys, and each entry becomes one bit shorter.
///
///     block_offsets[0 .. B]   u16 each     | block 0 | block 1 | ... | block B - 1 | padding, 0
///     block b: 32 cells, bytes [block_offsets[b], block_offsets[b + 1]) behind the offsets
///
///     | code: 0 1..1 0 1..1 0 ... 0 | gap: zeros | slot n - 1 | ... | slot 1 | slot 0 |
///
/// Code    Bits from the block's first byte on: a zero, then for each cell a one per entry and a
///         zero.
/// Slot    w bits: an entry's remainder, and above it a one that marks its length. The entry 1 has
///         no remainder and matches its whole cell. 0 means no entry.
/// Gap     Room for inserts. If a block has none, up to 32 blocks behind it move by a byte or two
///         into the gap of one of them.

#include <bit>
#include <bloomset/detail/core/bits.hpp>
#include <bloomset/detail/core/byte_interval.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomset::detail {

inline constexpr unsigned block_cell_bits = 5;
inline constexpr unsigned block_cells = 1U << block_cell_bits;
/// Bytes of a block's code that are read at once, whatever its length.
inline constexpr std::size_t code_read = 16;
/// The largest block offset.
inline constexpr std::size_t max_segment_area = 65535;
/// The most entries that segment_layout can count per block. Only with slots of up to 6 bits does a
/// segment have room for more.
inline constexpr std::size_t max_block_entries = 65535;
/// The longest slot that one unaligned 64-bit load always reads as a whole.
inline constexpr unsigned max_slot_bits = 57;

constexpr std::uint64_t low_bits(std::uint64_t x, unsigned n) noexcept {
  return x & ((std::uint64_t{1} << n) - 1);
}

/// n bits from bit `at` on, n <= 57. Reads 8 bytes.
inline std::uint64_t get_bits(const std::byte* from, std::size_t at, unsigned n) noexcept {
  return low_bits(load<std::uint64_t>(from + (at >> 3)) >> (at & 7), n);
}

/// The entries of a cell.
struct cell_run {
  std::size_t first;  ///< number of its first entry in the block
  std::size_t size;
};

/// True if the entry's remainder is the lowest bits of `remainder`. False for 0, which means no
/// entry.
constexpr bool is_match(std::uint64_t entry, std::uint64_t remainder) noexcept {
  const auto marker = std::bit_floor(entry);
  return entry != 0 && ((entry ^ remainder) & (marker - 1)) == 0;
}

/// True if the shorter entry matches every hash that the longer one matches.
constexpr bool covers(std::uint64_t shorter, std::uint64_t longer) noexcept {
  return shorter <= longer && is_match(shorter, longer);
}
/// An entry is compared with at most this many others of its cell. Only chosen keys give a cell
/// more entries; the rest count as different.
inline constexpr std::size_t max_compared = 64;

/// The gaps that blocks get when a segment is laid out. Readers do not need them.
struct gap_plan {
  unsigned share;        ///< a byte of gap per `share` used bytes
  unsigned max_entries;  ///< average gap per block: at most the bytes of this many slots
};
/// For a known growth, whose promise is at most 16.1 bits per key.
inline constexpr gap_plan narrow_gaps{12, 3};
/// For an unknown growth: 0.6 to 0.9 bits per key more, and inserts a sixth faster
/// (docs/maintain/decisions/kinds/expandable-segments.md).
inline constexpr gap_plan wide_gaps{6, 6};
constexpr gap_plan gaps_for(double growth) noexcept {
  return growth == 0 ? wide_gaps : narrow_gaps;
}
/// For a segment that has no room for gaps.
inline constexpr gap_plan no_gaps{max_segment_area + 1, 0};

/// A segment's cells and slots.
struct segment_shape {
  unsigned cell_bits;  ///< 5 .. 14
  unsigned slot_bits;  ///< w: a remainder and its marker, 2 .. max_slot_bits
  gap_plan gaps = narrow_gaps;

  std::size_t blocks() const noexcept { return std::size_t{1} << (cell_bits - block_cell_bits); }
  std::size_t offset_bytes() const noexcept { return 2 * (blocks() + 1); }
  /// The least number of zero bytes behind the last block, so that loads of its code stay inside. A
  /// filter of one block needs only the 7 bytes for a load of 8 bytes at its last byte.
  std::size_t padding() const noexcept { return blocks() == 1 ? 7 : code_read; }
  /// Bytes of a segment whose blocks have `area` bytes: a multiple of 8.
  std::size_t stored_bytes(std::size_t area) const noexcept {
    return round_up(offset_bytes() + detail::max(area + padding(), code_read), 8);
  }
  std::size_t min_bytes() const noexcept { return stored_bytes(0); }
  /// Bytes of the code and the slots of a block with this number of entries.
  std::size_t code_bytes(std::size_t entries) const noexcept {
    return bytes_for_bits(block_cells + 1 + entries);
  }
  std::size_t slot_bytes(std::size_t entries) const noexcept {
    return bytes_for_bits(entries * slot_bits);
  }
  std::size_t block_bytes(std::size_t entries) const noexcept {
    return code_bytes(entries) + slot_bytes(entries);
  }
  /// The largest average gap of a block.
  std::size_t max_gap() const noexcept {
    return detail::max<std::size_t>(2, std::size_t{gaps.max_entries} * slot_bits / 8);
  }
  /// The most bytes of blocks in a segment of `stored` bytes.
  std::size_t area_within(std::size_t stored) const noexcept {
    return stored - offset_bytes() - padding();
  }
};

/// The largest segment: 2^14 cells, and blocks up to the largest offset.
inline constexpr std::size_t max_segment_bytes =
    round_up(2 * ((std::size_t{1} << 9) + 1) + max_segment_area + code_read, 8);

#include <bloomset/detail/expandable/segment_view.inl>

}  // namespace bloomset::detail
