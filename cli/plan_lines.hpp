#pragma once

// A planned filter as what makes it: a line of shell and a line of C++.

#include <bloomery/any_filter.hpp>
#include <string>

namespace bloomery::cli {

/// The request of the same filter by what build and the constructors take: its capacity, and the
/// rate or the size.
plan_request settled(const plan_request& asked, const plan_report& plan);

/// Both lines are of a settled request.
std::string command_line(const kind_info& kind, const plan_request& request);
std::string cpp_line(const kind_info& kind, const plan_request& request);

}  // namespace bloomery::cli
