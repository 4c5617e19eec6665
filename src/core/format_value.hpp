#pragma once

#include "core/format.hpp"

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomset::detail {

/// Appends a value as the spec of its place in a pattern says. The small WebAssembly modules have
/// another definition, whose real numbers need no tables.
void append_value(std::string& out, const format_value& value, std::string_view spec);

}  // namespace bloomset::detail

#pragma GCC visibility pop
