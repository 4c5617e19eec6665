#pragma once

// What a verb of the command line is, and the table of them.

#include <bloomery/result.hpp>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "cli11_fwd.hpp"

namespace bloomery::cli {

/// As grep: some line was selected, none was, or something was wrong.
enum class status : int { some = 0, none = 1, error = 2 };
inline constexpr status done = status::some;

/// What a verb does once its arguments are read. A failure's sentence goes to stderr, with exit 2.
using action = std::function<result<status>()>;

struct command {
  std::string_view name;
  std::string_view summary;   ///< one line, for the list of verbs
  std::string_view examples;  ///< lines of shell, shown at the end of --help
  /// Declares the verb's arguments and returns what to do with them. The action owns the values.
  action (*define)(CLI::App& app);
};

/// All verbs, in the order in which help lists them.
std::span<const command> commands() noexcept;

/// The whole command line: each verb a subcommand of the app. `chosen` is set to the action of the
/// verb that was parsed.
std::unique_ptr<CLI::App> make_app(action& chosen);

}  // namespace bloomery::cli
