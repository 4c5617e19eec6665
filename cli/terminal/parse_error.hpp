#pragma once

// Error messages: one sentence on one line.

#include <string>
#include <string_view>
#include <vector>

#include "terminal/cli11_fwd.hpp"

namespace bloomset::cli {

/// The sentence for a command line that cannot be parsed, without a newline: the verb, the error,
/// the nearest correct word, and the command for help. `last_word` is the last argument.
std::string parse_sentence(const CLI::App& app, const CLI::ParseError& error,
                           std::string_view last_word);

/// The text with its control characters (C0, DEL, C1) escaped. A message that quotes arguments and
/// file names is then one line, and does not control a terminal.
std::string one_line(std::string_view text);

/// JSON whose strings have no control characters: DEL and C1 become \u007f to \u009f.
std::string safe_json(std::string_view json);

/// "there is no verb 'plna' (did you mean 'plan'?)".
std::string no_verb(std::string_view word, const std::vector<std::string>& verbs);

/// The candidate nearest to `word` by edit distance (insert, delete, replace, swap neighbours), or
/// an empty text if none is near. O(total length).
std::string_view nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace bloomset::cli
