#pragma once

// The payload of a ribbon filter: the sections of its levels, their rates, and its validation.

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

/// The fractions of non-members that a level passes, and that it bumps to the levels beyond.
struct ribbon_share {
  double pass = 0;
  double bumped = 0;
};
/// O(code bytes).
ribbon_share ribbon_share_of(const ribbon_level& level, const std::byte* codes) noexcept;

/// The rate of all levels, without equal hashes. O(code bytes).
double ribbon_fpr(const ribbon_params& params, std::span<const std::byte> payload) noexcept;

/// Fails with corrupt unless the payload has the size of its parameters and zeros as its padding.
/// O(levels).
result<void> check_ribbon_payload(const ribbon_params& params, std::span<const std::byte> payload,
                                  std::uint64_t count);

/// The result of a build.
struct built_ribbon {
  ribbon_params params;
  owned_storage payload;
  std::vector<ribbon_level_view> views;
  std::uint64_t count = 0;
};

}  // namespace bloomery::detail
