#pragma once

/// Plans expandable filters: the first segments, and for each doubling the number of hash bits that
/// an entry keeps. This number is chosen so that the rate holds at any size.

#include <bloomset/image.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bloomset {

/// A request. The planner finds the values that are zero. It needs the rate, or capacity and bits.
/// The rate alone gives a filter for default_expandable_capacity keys.
struct expandable_spec {
  std::uint64_t capacity = 0;  ///< keys to begin with
  double fpr = 0;              ///< eps in (0, 1), however far the filter grows
  std::uint64_t bits = 0;      ///< of the payload before it grows, at most
  double growth = 0;           ///< final number of keys / capacity, in [1, 2^50]; 0: unknown
  hash_seed seed = {};         ///< of the hash function, or its secret key
};

/// Everything that determines an expandable filter's layout. Growth changes it, and each insert
/// changes `entries`.
struct expandable_params {
  /// Entries per cell before a single segment is widened, which halves its load. Two save memory
  /// and cost time (docs/maintain/decisions/kinds/expandable-first-segment.md).
  static constexpr unsigned first_load = 2;

  std::uint64_t capacity = 0;  ///< keys that it was made for
  double fpr = 0;
  double growth = 0;  ///< 0: unknown
  hash_seed seed = {};

  unsigned segment_cell_bits = 0;  ///< log2 of a segment's cells once there are several segments
  unsigned cell_bits = 0;        ///< log2 of a segment's cells now; only a single segment has fewer
  unsigned level = 0;            ///< bits of the hash that choose a segment
  std::uint64_t split = 0;       ///< segments below this are split, and chosen by one bit more
  unsigned slot_bits = 0;        ///< remainder and marker, in segments at `level`
  unsigned split_slot_bits = 0;  ///< the same in segments that were split, and in their halves
  std::uint32_t generation = 0;  ///< doublings of the cells that have begun
  double spent = 0;              ///< rate of the entries once the current doubling is complete
  std::uint64_t entries = 0;     ///< in all segments

  std::uint64_t segments() const noexcept { return (std::uint64_t{1} << level) + split; }
  std::uint64_t cells() const noexcept { return segments() << cell_bits; }
  /// True if the next step doubles the cells of the only segment, false if it splits a segment.
  bool widens() const noexcept { return cell_bits < segment_cell_bits; }
  /// Slot bits of the segments that the last step made.
  unsigned newest_slot_bits() const noexcept { return split == 0 ? slot_bits : split_slot_bits; }
  /// True for a filter with growth 1 that has not outgrown its capacity.
  bool is_fixed() const noexcept { return growth == 1 && generation == 0; }
  /// Two entries per cell while a step widens the only segment, otherwise 3/4 per cell.
  std::uint64_t room_of_cells() const noexcept {
    return widens() ? first_load * cells() : cells() / 4 * 3;
  }
  /// The filter grows by a step when it has more entries than this.
  std::uint64_t max_entries() const noexcept { return is_fixed() ? capacity : room_of_cells(); }
  /// If growth fails, inserts fail beyond this number of entries: a quarter more than
  /// max_entries(), or none if the filter is fixed.
  std::uint64_t entries_limit() const noexcept;

  /// The number of keys that the filter has room for now. It is `capacity` at first and
  /// max_entries() after growth. It is also max_entries() if `capacity` is below that of the
  /// smallest filter.
  std::uint64_t room() const noexcept;

  /// The parameter block of a file (docs/reference/format.md, "expandable").
  std::vector<std::byte> encode() const;
  /// Reads a parameter block. Fails with corrupt or unsupported if a value is out of range.
  static result<expandable_params> decode(const filter_header& header,
                                          std::span<const std::byte> block);
  /// True if every value is in its range and none contradicts another.
  bool possible() const noexcept;

  /// The next state: one segment split into two, or a single segment with twice the cells, or for a
  /// fixed filter the same cells with longer slots. Nothing if 64-bit hashes cannot keep the rate
  /// at that size.
  std::optional<expandable_params> grown() const noexcept;

  /// The same state for a filter whose entries match a fraction `rate` of all hashes, as after a
  /// union. The current doubling will add to this fraction. The schedule of rates continues at the
  /// first doubling that allows the sum. Returns nothing if no doubling allows it, or if entries
  /// would be too long for a segment.
  std::optional<expandable_params> replanned_for(double rate) const noexcept;
};

/// The capacity of a filter if the request has none.
inline constexpr std::uint64_t default_expandable_capacity = 96;

/// Plans the filter as it is before its first key. Fails with invalid_argument and names the value
/// that is out of range, missing or contradictory.
///
/// Rate of an entry. Take a segment that is chosen by `a` hash bits and has 2^c cells and
/// remainders of l bits. An entry that is inserted there keeps a + c + l bits of its hash for ever.
/// It matches 2^-(a + c + l) of all hashes at any later size. With s_g = 3/4 * 2^-l_g, entries of
/// length l_g add w(g) * s_g to the rate:
///
///     w(0) = 8/3            a single small segment: two entries per cell
///     w(0) = 1              whole segments: 3/4 entries per cell
///     w(g) = 4/3            a single segment is widened: as many new entries, in cells half as
///                           large
///     w(g) = 0              its last widening, which overfills the segment by 4/3, so that it is
///                           split at once
///     w(g) = 1/4 + 1/2      C cells become 2 C by splits.
///                           1/4: half of the 3/4 C new keys go into segments already split.
///                           1/2: in the next doubling, half of the 3/2 C new keys go into
///                           segments not yet split, whose cells are twice as large.
///                           1/2 more for a filter that begins with whole segments
///
/// Schedule of rates. The mean rate over keys chosen at random is at most the sum of these parts (a
/// union bound). l_g is the least whole number for which
///
///     w(0) s_0 + ... + w(g) s_g <= (63/64) * eps * A(g),    A(g) < 1:
///
///     growth unknown        A(g) = 1 - 8 / (t + 9), where t = g - 2/5 (widenings so far)
///     growth 1              A(g) = 1 - 1/32 / (g + 1)
///     growth up to 2^X      A(g) = 31/32 * u(g) / u(X) for g <= X
///                           A(g) = 1 - 1/32 / (g - X + 1) beyond
///
/// u(g) is the sum of w up to g. The w of a single segment is multiplied by 7/10 for up to 128
/// cells and by 2/5 for more. There are two exceptions: a filter that is not expected to outgrow
/// one segment, and one that begins with whole segments. In these the factor is 1, and 1/16 is
/// reserved for growth beyond X instead of 1/32.
///
/// Growth 1: the rate at the capacity is 0.8 to 0.95 of eps from 4000 keys on. For fewer keys it is
/// 0.47 to 0.95 of eps, because remainders are whole bits, and a filter with remainders of two
/// lengths would often be larger. The first key beyond the capacity gives all slots the bits that
/// later keys need, in O(size). Then g is 1, and the filter grows as others do.
///
/// Rates above 1/2 are planned as 1/2. Otherwise entries of a single segment would lose all their
/// bits, and each would count twice at every step.
///
/// A large batch first makes the splits that it needs and then inserts its keys. Its entries are
/// therefore in split segments, where each adds less to the rate.
result<expandable_params> plan_expandable(const expandable_spec& spec);

/// Bytes of the blocks of a new segment, so that the planned keys fit. `is_split`: the segment is
/// one of the first `split`, or one of their halves.
std::size_t planned_area(const expandable_params& plan, bool is_split) noexcept;
/// Bytes of the empty filter's payload.
std::uint64_t planned_bytes(const expandable_params& plan) noexcept;

/// Expected bits of payload with this number of keys.
double expandable_bits(const expandable_params& params, std::uint64_t keys);

/// The state after growth to this number of distinct keys. Nothing if the filter would be full
/// earlier.
std::optional<expandable_params> grown_to(expandable_params params, std::uint64_t keys);

}  // namespace bloomset
