#pragma once

// The command line's words, before they are parsed.

#include <string>
#include <vector>

namespace bloomery::cli {

/// The words after the program's name, last one first as CLI::App::parse takes them. What follows a
/// `--` are files whatever they look like; the parser knows that only of the first positional, so
/// `-- -x` is handed to it as `./-x`. A `-` stays stdin.
std::vector<std::string> arguments(int argc, const char* const* argv);

}  // namespace bloomery::cli
