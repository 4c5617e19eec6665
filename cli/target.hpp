#pragma once

// Where a verb puts the filter that it makes.

#include <bloomery/result.hpp>
#include <string>

namespace bloomery::cli {

/// Finds out before any key is read whether a filter can be put there: a file's name, or - for a
/// stdout that is no terminal.
result<void> check_target(const std::string& target, bool force);

}  // namespace bloomery::cli
