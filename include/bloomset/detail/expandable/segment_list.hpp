#pragma once

/// The list of segments that a payload begins with, the copies of keys that are counted beside
/// their entries, and checks of segments from outside.

#include <bloomset/detail/core/bits.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/plan/expandable_plan.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomset::detail {

/// One key of a segment's list, which is in ascending order of hashes.
struct counted_copies {
  std::uint64_t hash;
  std::uint64_t copies;  ///< beyond those in the table
};
static_assert(sizeof(counted_copies) == 16);

/// Element i of a list.
inline counted_copies copies_at(std::span<const std::byte> list, std::size_t i) noexcept {
  return load<counted_copies>(list.data() + i * sizeof(counted_copies));
}

/// Copies of one hash; 0 if it is not in the list. Reads only the list, whatever its bytes are.
inline std::uint64_t counted_of(std::span<const std::byte> list, hash64 h) noexcept {
  std::size_t first = 0;
  for (std::size_t size = list.size() / sizeof(counted_copies); size != 0;) {
    const std::size_t half = size / 2;
    const counted_copies each = copies_at(list, first + half);
    if (each.hash == h.value) return each.copies;
    const bool is_below = each.hash < h.value;
    if (is_below) first += half + 1;
    size = is_below ? size - half - 1 : half;
  }
  return 0;
}

/// A segment in the list.
struct segment_entry {
  std::uint32_t words;    ///< its size, in words of 8 bytes
  std::uint32_t counted;  ///< elements of its list of counted copies
};
static_assert(sizeof(segment_entry) == 8);

/// A segment to be read.
struct segment_span {
  std::span<const std::byte> bytes;
  std::span<const std::byte> copies;  ///< counted_copies
};
using segment_spans = std::vector<segment_span>;

/// Throws std::bad_alloc.
template <class Segments>
segment_spans spans_of(const Segments& segments) {
  segment_spans all;
  all.reserve(segments.size());
  for (const auto& each : segments) all.push_back({each.bytes.bytes(), each.copies()});
  return all;
}

/// The segments of a payload. Fails with corrupt if the list does not fit the payload's size or the
/// parameters. O(segments).
result<segment_spans> read_segment_list(const expandable_params& params,
                                        std::span<const std::byte> payload, std::uint64_t count);

/// Fails with corrupt unless every segment is well formed and all together have the entries of the
/// parameters and `count` copies. All functions that write to segments rely on this check. O(size).
result<void> check_segments(const expandable_params& params, const segment_spans& segments,
                            std::uint64_t count);

/// Memory for segments could not be allocated.
failure no_segment_memory() noexcept;
/// Segments do not fit the parameters.
failure segment_mismatch();

}  // namespace bloomset::detail
