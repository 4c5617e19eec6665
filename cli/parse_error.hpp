#pragma once

// What is refused, as one sentence on one line.

#include <string>
#include <string_view>
#include <vector>

#include "cli11_fwd.hpp"

namespace bloomery::cli {

/// The sentence for a command line that could not be parsed, without the final newline: the verb,
/// what was wrong, the nearest word that would have been right, and where to read on.
std::string parse_sentence(const CLI::App& app, const CLI::ParseError& error);

/// The text with its control characters escaped: a message quotes arguments and file names, and is
/// one line whatever is in them.
std::string one_line(std::string_view text);

/// "there is no verb 'plna' (did you mean 'plan'?)".
std::string no_verb(std::string_view word, const std::vector<std::string>& verbs);

/// The candidate that a typing slip away from `word` was meant: the nearest by edit distance
/// (insert, delete, replace, swap neighbours), if it is near enough; else empty. O(total length).
std::string_view nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace bloomery::cli
