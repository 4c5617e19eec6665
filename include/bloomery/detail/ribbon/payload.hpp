#pragma once

// A ribbon filter's payload as its parameters describe it: the levels' sections, their rate, and
// whether the bytes can be those of a filter.

#include <bloomery/detail/ribbon/layout.hpp>
#include <bloomery/plan/ribbon_plan.hpp>
#include <bloomery/result.hpp>
#include <bloomery/storage.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomery::detail {

/// The views of a filter's levels.
std::vector<ribbon_level_view> ribbon_views(const ribbon_params& params);

/// The share of strangers that pass a level: those whose start is bumped pass at the rate of the
/// levels beyond. O(code bytes).
struct ribbon_share {
  double pass = 0;    ///< of those that are not bumped
  double bumped = 0;  ///< of all
};
ribbon_share ribbon_share_of(const ribbon_level& level, const std::byte* codes) noexcept;

/// The rate of a filter: its levels' shares put together. O(code bytes).
double ribbon_fpr(const ribbon_params& params, std::span<const std::byte> payload) noexcept;

/// Whether the payload has the size that the parameters give it, and zeros where none can be
/// written; else corrupt. O(levels).
result<void> check_ribbon_payload(const ribbon_params& params, std::span<const std::byte> payload,
                                  std::uint64_t count);

/// What a build made.
struct built_ribbon {
  ribbon_params params;
  owned_storage payload;
  std::vector<ribbon_level_view> views;
  std::uint64_t count = 0;
};

}  // namespace bloomery::detail
