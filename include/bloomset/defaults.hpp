#pragma once

/// Defaults of the command line, the C, Python and SQL interfaces, the server module and the
/// explorer.
///
/// The planners have no default kind or rate: callers of the C++ library state them.

#include <bloomset/any_filter.hpp>
#include <string_view>

namespace bloomset {

/// The kind of a filter if none is named.
inline constexpr std::string_view default_kind = "blocked_bloom";
/// The rate if it is left open.
inline constexpr double default_fpr = 0.01;

/// Completes a request for a filter: sets default_fpr if neither the rate nor both of capacity and
/// size are given. The capacity of a kind with `build` is always known: it is the number of keys.
inline void apply_default_fpr(const kind_info& kind, plan_request& request) noexcept {
  if (kind.build_of_two_sets != nullptr) return;  // its keys determine it
  const bool has_capacity = request.capacity != 0 || kind.build != nullptr;
  if (request.fpr == 0 && !(has_capacity && request.bits != 0)) request.fpr = default_fpr;
}

/// Completes a request for a plan: sets default_fpr if the capacity is the only figure given.
/// Returns whether it did.
inline bool assume_default_fpr(plan_request& request) noexcept {
  const bool open =
      request.capacity != 0 && request.fpr == 0 && request.bits == 0 && request.hashes == 0;
  if (open) request.fpr = default_fpr;
  return open;
}

}  // namespace bloomset
