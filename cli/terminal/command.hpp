#pragma once

// A verb of the command line, and the table of verbs.

#include <bloomset/result.hpp>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "terminal/cli11_fwd.hpp"

namespace bloomset::cli {

/// The exit status, as grep's: a line was selected, no line was selected, or an error occurred.
enum class status : int { some = 0, none = 1, error = 2 };
inline constexpr status done = status::some;

/// Runs a verb after its arguments were parsed. A failure's message is printed to stderr, with exit
/// status 2.
using action = std::function<result<status>()>;

struct command {
  std::string_view name;
  std::string_view summary;  ///< one line, for the list of verbs
  std::string examples;      ///< lines of shell, shown at the end of --help
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

}  // namespace bloomset::cli
