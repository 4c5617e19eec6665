#pragma once

// A verb of the command line, and the table of verbs.

#include <bloomery/result.hpp>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "cli11_fwd.hpp"

namespace bloomery::cli {

/// The exit status, as of grep: some line was selected, none was, or an error.
enum class status : int { some = 0, none = 1, error = 2 };
inline constexpr status done = status::some;

/// Runs a verb whose arguments are read. The message of a failure is printed to stderr, with
/// exit 2.
using action = std::function<result<status>()>;

struct command {
  std::string_view name;
  std::string_view summary;   ///< one line, for the list of verbs
  std::string_view examples;  ///< lines of shell, shown at the end of --help
  /// Declares the verb's arguments and returns its action, which owns their values.
  action (*define)(CLI::App& app);
};

/// All verbs, in the order in which help lists them.
std::span<const command> commands() noexcept;

/// The whole command line. Each verb is a subcommand of the app. Parsing sets `chosen` to the
/// verb's action.
std::unique_ptr<CLI::App> make_app(action& chosen);

/// Parses the arguments and runs the verb. Errors and help are printed. Returns the exit status.
int run(int argc, char** argv);

}  // namespace bloomery::cli
