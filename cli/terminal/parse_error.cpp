#include "terminal/parse_error.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <bloomset/keys/reader.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "terminal/declare.hpp"
#include "terminal/tree.hpp"

namespace bloomset::cli {
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

/// What other programs call a verb.
struct synonym {
  std::string_view word, verb;
};
constexpr std::array synonyms = {
    synonym{"append", "add"},      synonym{"contains", "check"},
    synonym{"create", "build"},    synonym{"del", "remove"},
    synonym{"delete", "remove"},   synonym{"diff", "check"},
    synonym{"erase", "remove"},    synonym{"exists", "check"},
    synonym{"generate", "build"},  synonym{"grep", "check"},
    synonym{"init", "build"},      synonym{"insert", "add"},
    synonym{"inspect", "info"},    synonym{"intersection", "intersect"},
    synonym{"join", "merge"},      synonym{"lookup", "check"},
    synonym{"make", "build"},      synonym{"new", "build"},
    synonym{"or", "merge"},        synonym{"query", "check"},
    synonym{"rm", "remove"},       synonym{"search", "check"},
    synonym{"show", "info"},       synonym{"shrink", "fold"},
    synonym{"size", "plan"},       synonym{"stat", "info"},
    synonym{"stats", "info"},      synonym{"test", "check"},
    synonym{"union", "merge"},     synonym{"uniq", "dedup"},
    synonym{"unique", "dedup"},    synonym{"update", "add"},
    synonym{"validate", "verify"},
};

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
std::string extra_sentence(const CLI::App& app, const CLI::App* verb, std::string extra) {
  if (extra.starts_with(word_mark)) {
    return extra_sentence(app, verb, (extra[1] == '[' ? "" : "./") + extra.substr(1));
  }
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

/// The option that ends the command line without its value, if `last_word` is one: "--output",
/// "-vo".
const CLI::Option* option_without_value(const CLI::App& app, std::string_view last_word) {
  if (!last_word.starts_with('-')) return nullptr;
  std::string name(last_word.substr(0, last_word.find('=')));
  if (!name.starts_with("--")) name = {'-', name.back()};
  const CLI::Option* const named = app.get_option_no_throw(name);
  return named != nullptr && named->get_items_expected_min() > 0 ? named : nullptr;
}

/// The sentence for `option` if it is the one that the parser refused.
std::optional<std::string> refusal(const CLI::Option& option, CLI::ExitCodes code) {
  const std::string name = option.get_name();
  const auto given = static_cast<int>(option.count());
  if (code == CLI::ExitCodes::RequiredError && option.get_required() && given == 0) {
    return name + " is missing";
  }
  if (given == 0) return std::nullopt;
  if (code == CLI::ExitCodes::ArgumentMismatch) {
    if (given < option.get_items_expected_min()) {
      return fmt::format("{}: at least {} are needed", name, option.get_items_expected_min());
    }
    const bool is_single = option.get_multi_option_policy() == CLI::MultiOptionPolicy::Throw;
    if (is_single && given > std::max(option.get_items_expected_max(), 1)) {
      return name + ": it can be given only once";
    }
  }
  if (code == CLI::ExitCodes::ExcludesError) {
    for (const CLI::Option* other : option.get_excludes()) {
      if (other->count() == 0) continue;
      return fmt::format("{} and {} exclude each other; give one of them", name, other->get_name());
    }
  }
  return std::nullopt;
}

/// The sentence for the parser's error. CLI11's exceptions name the option only in prose, so the
/// options are checked in the parser's order until one fails.
std::string refusal_sentence(const CLI::App& app, const CLI::ParseError& error,
                             std::string_view last_word) {
  const auto code = static_cast<CLI::ExitCodes>(error.get_exit_code());
  if (code == CLI::ExitCodes::ArgumentMismatch) {
    if (const CLI::Option* const option = option_without_value(app, last_word)) {
      return option->get_name() + ": its value is missing";
    }
  }
  const CLI::Option* converted = nullptr;
  for (const CLI::Option* option : app.get_options()) {
    if (auto sentence = refusal(*option, code)) return std::move(*sentence);
    // The callbacks stop at the value that cannot be converted.
    if (option->count() != 0 && option->get_callback_run()) converted = option;
  }
  if (code == CLI::ExitCodes::ConversionError && converted != nullptr) {
    return fmt::format("{}: '{}' is not a valid number", converted->get_name(),
                       converted->results().back());
  }
  return error.what();
}

/// The size of the first character in UTF-8, or 1 if the bytes are not UTF-8. Overlong forms and
/// the like count as characters, since they are no control characters either.
std::size_t character_size(std::string_view text) noexcept {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t size = first < 0xc2   ? 1
                           : first < 0xe0 ? 2
                           : first < 0xf0 ? 3
                           : first < 0xf5 ? 4
                                          : 1;
  if (size > text.size()) return 1;
  const auto rest = text.substr(1, size - 1);
  const bool whole = std::ranges::all_of(
      rest, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; });
  return whole ? size : 1;
}

/// C0, DEL and C1, as UTF-8 or as a byte by itself.
bool is_control(std::string_view character) noexcept {
  const auto last = static_cast<unsigned char>(character.back());
  if (character.size() == 1) return last < 0x20 || (last >= 0x7f && last < 0xa0);
  return character.size() == 2 && character.front() == '\xc2' && last < 0xa0;
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    const auto byte = static_cast<unsigned char>(text.front());
    if (byte == '\n') {
      line += "\\n";
    } else if (is_control(text.substr(0, size))) {
      for (const char c : text.substr(0, size)) {
        line += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      }
    } else {
      line += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  return line;
}

std::string safe_json(std::string_view json) {
  std::string safe;
  while (!json.empty()) {
    const std::size_t size = character_size(json);
    const std::string_view character = json.substr(0, size);
    if (is_control(character)) {  // those of ASCII except DEL are escaped in JSON anyway
      safe += fmt::format("\\u00{:02x}", static_cast<unsigned char>(character.back()));
    } else {
      safe += character;
    }
    json.remove_prefix(size);
  }
  return safe;
}

std::string no_verb(std::string_view word, const std::vector<std::string>& verbs) {
  const auto* const other = std::ranges::find(synonyms, word, &synonym::word);
  if (other != synonyms.end()) {
    return fmt::format("there is no verb '{}' (did you mean '{}'?)", word, other->verb);
  }
  return fmt::format("there is no verb '{}'{}", word, did_you_mean(word, verbs));
}

std::string_view nearest(std::string_view word, const std::vector<std::string>& candidates) {
  // At most a third of a word may be wrong: "plna" is plan, "quux" is nothing.
  std::size_t best = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::string_view found;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    // The word may be the beginning of a candidate.
    const bool begun = word.size() >= 3 && candidate.starts_with(word);
    if (distance < best || (begun && found.empty())) {
      best = std::min(best, distance);
      found = candidate;
    }
  }
  return found;
}

std::string parse_sentence(const CLI::App& app, const CLI::ParseError& error,
                           std::string_view last_word) {
  const auto chosen = app.get_subcommands();
  const CLI::App* verb = chosen.empty() ? nullptr : chosen.front();
  auto extras = app.remaining(true);
  std::erase(extras, "--");
  const std::string sentence =
      extras.empty() ? refusal_sentence(verb == nullptr ? app : *verb, error, last_word)
                     : extra_sentence(app, verb, extras.front());
  const std::string prefix = verb == nullptr ? "bloomset" : "bloomset " + verb->get_name();
  return fmt::format("{}: {}; see '{} --help'", prefix, sentence, prefix);
}

}  // namespace bloomset::cli
