#pragma once

// The picture of `bloomery plan --plot`: every kind's rate over its bits a key, the information
// bound, and the plan itself as a point.

#include <bloomery/any_filter.hpp>
#include <string>

namespace bloomery::cli {

/// The SVG of all kinds at the plan's capacity, with the plan's own point. One plan of each kind
/// for each of some 40 rates.
std::string plan_plot(const kind_info& kind, const plan_report& plan);

}  // namespace bloomery::cli
