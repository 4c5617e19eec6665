#pragma once

// Which of the library's filters stand behind a filter of BF.* or CF.*, and at which rates.

#include <bloomery/any_filter.hpp>
#include <optional>

#include "arguments.hpp"

namespace bloomery::server {

/// A filter of the library, before it is made.
struct planned_part {
  const kind_info* kind;
  plan_request request;
};

struct native_plan {
  planned_part front;
  /// What comes behind the front when that has its items; none if it grows by itself or may not.
  std::optional<planned_part> back;
};

native_plan plan_native(const filter_spec& spec);

/// Lower rates have the classic Bloom filter where others have a blocked one.
inline constexpr double min_blocked_rate = 1e-4;

/// Whether a dump may have such a front: filters that were made when it was planned otherwise go on
/// as they are.
bool may_be_front(filter_kind kind, const native_plan& plan) noexcept;

/// The time that a generation of a filter with a window is for.
std::uint64_t slice_milliseconds(const filter_spec& spec) noexcept;

/// What each generation of a filter with a window is: as many items as come in one, should they
/// come evenly, which it may outgrow; the rate divided by all generations that are held.
filter_spec generation_spec(const filter_spec& spec) noexcept;

}  // namespace bloomery::server
