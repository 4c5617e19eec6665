#pragma once

// The shell and C++ lines that create a planned filter.

#include <bloomset/any_filter.hpp>
#include <cstdint>
#include <string>

namespace bloomset::teach {

/// The request that creates the planned filter: its capacity, and the rate or the size.
plan_request settled_request(const plan_request& asked, const plan_report& plan);

/// Both following functions need a settled request.
std::string shell_line(const kind_info& kind, const plan_request& request);
std::string cpp_line(const kind_info& kind, const plan_request& request);

/// The command that reserves such a filter on a server, with the module's default settings. Empty
/// for kinds that the server does not have, and where the server would refuse the command.
std::string server_line(const kind_info& kind, std::uint64_t capacity, double rate);

}  // namespace bloomset::teach
