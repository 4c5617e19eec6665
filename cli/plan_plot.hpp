#pragma once

// The chart of `bloomery plan --plot`: the rate of every kind over bits per key, the information
// bound, and the plan as a point.

#include <bloomery/any_filter.hpp>
#include <string>

namespace bloomery::cli {

/// The chart as SVG, at the plan's capacity. Calls each kind's planner for about 40 rates.
std::string plan_plot(const kind_info& kind, const plan_report& plan);

}  // namespace bloomery::cli
