#pragma once

// The words of the command line before parsing.

#include <string>
#include <vector>

namespace bloomery::cli {

/// The words after the program's name, in reverse order as CLI::App::parse needs them. Words after
/// a `--` are files. CLI11 supports that only for the first positional, so `-- -x` becomes `./-x`.
/// A `-` stays stdin.
std::vector<std::string> arguments(int argc, const char* const* argv);

}  // namespace bloomery::cli
