#pragma once

// A kind and a planned filter in words: what it can do, and the lines of shell and C++ that make
// it.

#include <bloomery/any_filter.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery::cli {

/// The request of the same filter by what build and the constructors take: its capacity, and the
/// rate or the size.
plan_request settled(const plan_request& asked, const plan_report& plan);

/// Both lines are of a settled request.
std::string command_line(const kind_info& kind, const plan_request& request);
std::string cpp_line(const kind_info& kind, const plan_request& request);

/// What a kind can do beyond queries, in the words of its verbs: "insert", "erase" and so on.
std::vector<std::string_view> names_of(const abilities& can);

}  // namespace bloomery::cli
