#pragma once

/// The list of segments that a payload begins with, and checks of segments from outside.

#include <bloomery/plan/expandable_plan.hpp>
#include <bloomery/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomery::detail {

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

}  // namespace bloomery::detail
