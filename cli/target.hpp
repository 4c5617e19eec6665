#pragma once

// Where a verb puts what it makes.

#include <bloomery/result.hpp>
#include <functional>
#include <string>

namespace bloomery::cli {

/// Finds out before any key is read whether a filter can be put there: a file's name, or - for a
/// stdout that is no terminal.
result<void> check_target(const std::string& target, bool force);

/// The same for a picture, which is always a file: stdout has the figures.
result<void> check_picture(const std::string& target, bool force);

/// Writes it, as a file of filters is written.
result<void> write_picture(const std::string& svg, const std::string& target, bool force);

/// Calls `write`, which puts a file at that path. Says on stderr if the new file could not be given
/// the owner and group of the one that it replaced.
result<void> replacing(const std::string& path, const std::function<result<void>()>& write);

}  // namespace bloomery::cli
