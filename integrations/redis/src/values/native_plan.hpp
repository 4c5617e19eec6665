#pragma once

// The choice of the library's filters for a native filter, and of their rates. There are at most
// two (docs/maintain/decisions/edges/server-two-parts.md).

#include <bloomset/any_filter.hpp>
#include <optional>

#include "values/filter_spec.hpp"

namespace bloomset::server {

/// The request for one filter of the library.
struct planned_part {
  const kind_info* kind;
  plan_request request;
};

struct native_plan {
  planned_part front;
  /// Started when the front is full. None if the front grows itself, or if the filter is fixed.
  std::optional<planned_part> back;
};

native_plan plan_native(const filter_spec& spec);

/// Lower rates use the classic Bloom filter instead of the blocked one.
inline constexpr double min_blocked_rate = 1e-4;

}  // namespace bloomset::server
