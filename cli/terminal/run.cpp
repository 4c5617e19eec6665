#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <span>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "terminal/command.hpp"
#include "terminal/declare.hpp"
#include "terminal/parse_error.hpp"

namespace bloomset::cli {
namespace {

/// The words after the program's name, in reverse order as CLI::App::parse needs them. Words after
/// a `--` are no options. CLI11 supports that only for the first positional, so they are marked,
/// and so are words in brackets. A `-` stays stdin.
std::vector<std::string> arguments(int argc, const char* const* argv) {
  std::vector<std::string> words;
  if (argc < 1) return words;
  bool no_options = false;
  for (const char* const given : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
    std::string word = given;
    if (!no_options && word == "--") {
      no_options = true;
      continue;
    }
    const bool special = word.size() > 1 && (word.front() == '-' || word == "++");
    const bool in_brackets = word.size() > 1 && word.front() == '[' && word.back() == ']';
    words.push_back((no_options && special) || in_brackets ? word_mark + word : word);
  }
  std::reverse(words.begin(), words.end());
  return words;
}

/// Flushes stdout. Returns whether all output was written; if not, prints the reason. A full disk
/// may show only here. Some C libraries write a line at once, so the last write may have failed.
bool all_written(const std::string& program) {
  if (std::ferror(stdout) == 0) errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  const int error = errno != 0 ? errno : EIO;
  fmt::print(stderr, "{}: cannot write to stdout: {}\n", program,
             std::generic_category().message(error));
  return false;
}

}  // namespace

int run(int argc, char** argv) {
  action chosen;
  const auto app = make_app(chosen);
  auto words = arguments(argc, argv);
  const std::string last_word = words.empty() ? "" : words.front();
  try {
    app->parse(std::move(words));
  } catch (const CLI::Success& help) {
    std::ostringstream text;
    app->exit(help, text, text);
    (void)std::fputs(text.str().c_str(), stdout);
    return static_cast<int>(all_written("bloomset") ? done : status::error);
  } catch (const CLI::ParseError& wrong) {
    std::string sentence = parse_sentence(*app, wrong, last_word);
    std::erase(sentence, word_mark);
    fmt::print(stderr, "{}\n", one_line(sentence));
    return static_cast<int>(status::error);
  }
  if (!chosen) {  // 'bloomset' alone is an error: a script has left out the verb
    (void)std::fputs(app->help().c_str(), stderr);
    return static_cast<int>(status::error);
  }
  const std::string verb = "bloomset " + app->get_subcommands().front()->get_name();
  const auto outcome = chosen();
  if (!outcome) {
    fmt::print(stderr, "{}: {}\n", verb, one_line(outcome.error().message));
    return static_cast<int>(status::error);
  }
  if (!all_written(verb)) return static_cast<int>(status::error);
  return static_cast<int>(*outcome);
}

}  // namespace bloomset::cli
