#pragma once

/// Sizing an expandable filter: its first segments, and how many bits of each key it keeps as it
/// grows, so that the rate holds at any size.

#include <bloomery/image.hpp>
#include <bloomery/result.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bloomery {

/// What is asked for; zero means "find it". Sufficient: the rate (the filter begins with room for
/// default_expandable_capacity keys then), the rate with capacity or bits, or capacity and bits.
struct expandable_spec {
  std::uint64_t capacity = 0;  ///< keys to begin with
  double fpr = 0;              ///< eps, however far it grows, in (0, 1)
  std::uint64_t bits = 0;      ///< of the payload, at most, before it grows
  double growth = 0;       ///< how many times `capacity` it may become, in [1, 2^50]; 0: unknown
  std::uint64_t seed = 0;  ///< of the hash function
};

/// Everything that fixes an expandable filter's layout. It changes when the filter grows, and
/// `entries` with each key.
struct expandable_params {
  std::uint64_t capacity = 0;  ///< keys that it was made for
  double fpr = 0;
  double growth = 0;  ///< 0: unknown
  std::uint64_t seed = 0;

  unsigned segment_cell_bits = 0;  ///< log2 of a segment's cells, once there are several
  unsigned cell_bits = 0;          ///< of the segments now; less while there is only one
  unsigned first_load = 0;         ///< entries a cell before a smaller segment is widened; 0: 3/4
  unsigned level = 0;              ///< segments are chosen by so many bits of the hash,
  std::uint64_t split = 0;         ///< the first `split` of them by one more
  unsigned slot_bits = 0;          ///< of segments at `level`: remainder and marker
  unsigned deep_slot_bits = 0;     ///< of those that have been split, and their halves
  std::uint32_t generation = 0;    ///< how often the number of cells has begun to double
  double spent = 0;                ///< of the rate, once the doubling under way is complete
  std::uint64_t entries = 0;       ///< in all segments

  std::uint64_t segments() const noexcept { return (std::uint64_t{1} << level) + split; }
  std::uint64_t cells() const noexcept { return segments() << cell_bits; }
  /// Whether the next step widens the only segment, and does not split one.
  bool widens() const noexcept { return cell_bits < segment_cell_bits; }
  /// Entries beyond which the filter grows by a step: two a cell while that widens it, else three
  /// for four cells.
  std::uint64_t max_entries() const noexcept {
    return widens() && first_load != 0 ? first_load * cells() : cells() / 4 * 3;
  }
  /// Entries beyond which nothing is inserted, where growth cannot be had: a quarter more.
  std::uint64_t entries_limit() const noexcept;

  /// What the filter has room for now: the capacity that it was made for, or once it has grown, or
  /// if that is as little as no filter is, max_entries().
  std::uint64_t room() const noexcept;

  /// The parameter block of a file (docs/format.md, "expandable").
  std::vector<std::byte> encode() const;
  /// Reads it; a value out of range is corrupt or unsupported.
  static result<expandable_params> decode(const filter_header& header,
                                          std::span<const std::byte> block);
  /// Whether every value is in its range and none contradicts another.
  bool possible() const noexcept;

  /// The next state: one segment split into two, or a single small one with twice the cells.
  /// Nothing where 64 bits of hash do not suffice for the promised rate at that size.
  std::optional<expandable_params> grown() const noexcept;

  /// The same state if all entries as they stand match a share `rate` of all hashes, more than it
  /// was planned with, or less: what the entries to come will add is counted with it, and the
  /// promise is shared out from where that leaves it. Nothing if it could not be kept, or only with
  /// entries that are too long for a segment.
  std::optional<expandable_params> holding(double rate) const noexcept;
};

/// Keys that a filter begins with when no capacity is asked for.
inline constexpr std::uint64_t default_expandable_capacity = 96;

/// Plans the filter as it is before its first key. Fails with invalid_argument, saying which value
/// is out of range, missing or contradicts the others.
///
/// An entry that comes to a segment chosen by a bits, with 2^c cells and remainders of l bits,
/// keeps a + c + l bits of its hash for ever: it matches 2^-(a + c + l) of all hashes, and adds
/// that to the rate, whatever the size then. With s_g = 3/4 * 2^-l_g, entries of length l_g add
/// w(g) * s_g:
///
///     w(0) = 8/3            two entries a cell, each of its cell's share, in a single small
///                           segment; 1, three for four cells, in whole ones;
///     w(g) = 4/3            where such a segment gets twice its cells at once: as many entries
///                           more, each in a cell half as large;
///     w(g) = 0              in its last doubling, which fills a whole segment by 4/3, so that it
///                           is split at once;
///     w(g) = 1/4 + 1/2      where C cells become 2 C one segment after the other: of 3/4 C keys
///                           half meet a segment that has been split, and as many, in the doubling
///                           after it, one that has not, whose cells are twice as large; and 1/2
///                           more for a filter that begins with whole segments.
///
/// At rates above 1/4, and in files from before first_load, a plan has a single segment's cells
/// filled by 3/4 (w(0) = 1, w(g) = 1/2, in the last doubling 1).
///
/// The rate is at most the sum of what the entries add, a union's bound, and l_g is the least whole
/// number that keeps w(0) s_0 + ... + w(g) s_g within (63/64) * eps * A(g):
///
///     growth unknown:       A(g) = 1 - 8 / (t + 9), which leaves something for ever; t is g, less
///                           two fifths of the doublings of a single segment;
///     growth by up to 2^X:  A(g) = 31/32 * u(g) / u(X), and a thirty-second, 1 - 1/(g - X + 1) of
///                           it, beyond.
///
/// u(g) is the sum of the w up to g, those of a single segment by 7/10 up to 128 cells, by 2/5
/// with more. A filter that is not expected to outgrow one segment keeps a sixteenth instead, and
/// has them whole; so has one that begins with whole segments. As A(g) < 1, all doublings together
/// add less than eps. Keys of a large batch come after the splits that they cause, so they add
/// less.
result<expandable_params> plan_expandable(const expandable_spec& spec);

/// Bytes of blocks that a segment is made with, so that the planned keys fit.
std::size_t planned_area(const expandable_params& plan, bool deep) noexcept;
/// The payload of the filter as it is made.
std::uint64_t planned_bytes(const expandable_params& plan) noexcept;

/// Bits of payload that so many keys take in expectation, if the filter had them from the start.
double expandable_bits(const expandable_params& params, std::uint64_t keys);

/// The state of the filter after it has grown to so many keys, all different; nothing where it
/// would be full before.
std::optional<expandable_params> grown_to(expandable_params params, std::uint64_t keys);

}  // namespace bloomery
