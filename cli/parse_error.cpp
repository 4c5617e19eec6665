#include "parse_error.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <bloomery/keys/reader.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "tree.hpp"

namespace bloomery::cli {
namespace {

// Optimal string alignment: Damerau's distance without edits inside a swapped pair.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string_view meant = nearest(word, candidates);
  return meant.empty() ? "" : fmt::format(" (did you mean '{}'?)", meant);
}

/// Whether the verb reads secrets: then an extra argument may be one.
bool reads_secrets(const CLI::App& verb) {
  const CLI::Option* const given = verb.get_option_no_throw("--keys");
  if (given == nullptr || given->empty()) return false;
  const auto reader = keys::find(given->results().back());
  return reader && (*reader)->secret;
}

/// The sentence for an extra argument: an unknown verb or option, or one argument too many.
std::string extra_sentence(const CLI::App& app, const CLI::App* verb, const std::string& extra) {
  if (verb != nullptr && reads_secrets(*verb)) {
    return "there is no such option or argument; it is not shown because it may be a secret";
  }
  const std::string name = extra.substr(0, extra.find('='));
  if (extra.size() > 1 && extra.front() == '-') {
    const tree_shape tree = shape_of(app);
    std::vector<std::string> candidates;
    for (const argument& option : verb == nullptr ? tree.options : shape_of_verb(*verb).options) {
      candidates.insert(candidates.end(), option.long_names.begin(), option.long_names.end());
    }
    return fmt::format("there is no option '{}'{}", name, did_you_mean(name, candidates));
  }
  if (verb == nullptr) {
    std::vector<std::string> candidates;
    for (const CLI::App* each : app.get_subcommands({})) candidates.push_back(each->get_name());
    return no_verb(extra, candidates);
  }
  return fmt::format("'{}' is one argument too many", extra);
}

std::optional<std::string> between(std::string_view text, std::string_view first,
                                   std::string_view second) {
  const auto at = text.find(first);
  if (at == std::string_view::npos) return std::nullopt;
  const auto from = at + first.size();
  const auto to = text.find(second, from);
  if (to == std::string_view::npos) return std::nullopt;
  return std::string(text.substr(from, to - from));
}

/// The message of the parser, reworded for this program.
std::string reworded(const CLI::ParseError& error) {
  std::string said = error.what();
  if (error.get_name() == "ConversionError") {
    const auto name = between(said, "convert: ", " = ");
    const auto at = said.find(" = ");
    if (name && at != std::string::npos) {
      return fmt::format("{}: '{}' is not a valid number", *name, said.substr(at + 3));
    }
  }
  if (error.get_name() == "ArgumentMismatch") {
    const std::string name = said.substr(0, said.find(": "));
    if (said.ends_with(" missing")) return name + ": its value is missing";
    if (said.find("At Most 1 ") != std::string::npos) return name + ": it can be given only once";
    if (const auto least = between(said, "At least ", " required"); least) {
      return fmt::format("{}: at least {} are needed", name, *least);
    }
  }
  if (error.get_name() == "RequiredError") {
    if (said.ends_with(" is required")) {
      return said.substr(0, said.size() - std::string_view(" is required").size()) + " is missing";
    }
  }
  if (error.get_name() == "ExcludesError") {
    const auto at = said.find(" excludes ");
    if (at != std::string::npos) {
      return fmt::format("{} and {} exclude each other; give one of them", said.substr(0, at),
                         said.substr(at + std::string_view(" excludes ").size()));
    }
  }
  return said;
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      line += fmt::format("\\x{:02x}", byte);
    } else {
      line += c;
    }
  }
  return line;
}

std::string no_verb(std::string_view word, const std::vector<std::string>& verbs) {
  return fmt::format("there is no verb '{}'{}", word, did_you_mean(word, verbs));
}

std::string_view nearest(std::string_view word, const std::vector<std::string>& candidates) {
  // At most a third of a word may be wrong: "plna" is plan, "quux" is nothing.
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::string_view found;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    // The word may be the beginning of a candidate.
    const bool begun = word.size() >= 3 && candidate.starts_with(word);
    if (distance < least || (begun && found.empty())) {
      least = std::min(least, distance);
      found = candidate;
    }
  }
  return found;
}

std::string parse_sentence(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  const CLI::App* verb = chosen.empty() ? nullptr : chosen.front();
  auto extras = app.remaining(true);
  std::erase(extras, "--");
  const std::string what =
      extras.empty() ? reworded(error) : extra_sentence(app, verb, extras.front());
  const std::string where = verb == nullptr ? "bloomery" : "bloomery " + verb->get_name();
  return fmt::format("{}: {}; see '{} --help'", where, what, where);
}

}  // namespace bloomery::cli
