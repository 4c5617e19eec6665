#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bloomset/any_filter.hpp>
#include <bloomset/dialects/dialect.hpp>
#include <bloomset/keys/reader.hpp>
#include <span>
#include <utility>

#include "commands/all.hpp"
#include "terminal/tree.hpp"

namespace bloomset::cli {
namespace {
namespace man {

// Text escaped for roff: backslashes, hyphens that must stay minus signs, quotes that would become
// typographic, and control characters at the start of a line.
std::string roff(std::string_view text) {
  using escape = std::pair<char, std::string_view>;
  constexpr std::array escapes = {escape{'\\', "\\e"},  escape{'-', "\\-"},   escape{'\'', "\\(aq"},
                                  escape{'"', "\\(dq"}, escape{'^', "\\(ha"}, escape{'~', "\\(ti"},
                                  escape{'`', "\\(ga"}};
  std::string result;
  bool line_starts = true;
  for (const char c : text) {
    if (line_starts && (c == '.' || c == '\'')) result += "\\&";
    const auto* const found = std::ranges::find(escapes, c, &escape::first);
    result += found == escapes.end() ? std::string_view(&c, 1) : found->second;
    line_starts = c == '\n';
  }
  return result;
}

std::string arguments_of(const std::vector<argument>& all) {
  std::string text;
  for (const argument& each : all) {
    std::vector<std::string> names;
    names.reserve(each.short_names.size() + each.long_names.size());
    for (const std::string& name : each.short_names) names.push_back("\\fB" + roff(name) + "\\fR");
    for (const std::string& name : each.long_names) names.push_back("\\fB" + roff(name) + "\\fR");
    std::string head = fmt::format("{}", fmt::join(names, ", "));
    if (!each.value.empty()) {
      head += fmt::format("{}\\fI{}\\fR", head.empty() ? "" : " ", roff(each.value));
    }
    text += fmt::format(".TP\n{}\n{}", head, roff(each.meaning));
    if (!each.choices.empty()) {
      text += fmt::format("{}{}", each.meaning.empty() ? "" : ": ",
                          roff(fmt::format("{}", fmt::join(each.choices, ", "))));
    }
    text += '\n';
  }
  return text;
}

std::string verb_section(const verb_shape& shape) {
  std::string text = fmt::format(".SS {}\n{}\n.PP\n.nf\n{}\n.fi\n", roff(shape.name),
                                 roff(shape.summary), roff(shape.usage()));
  text += arguments_of(shape.positionals);
  const auto lists = shape.option_lists();
  for (const option_list& list : lists) {
    if (lists.size() > 1) text += fmt::format(".PP\n{}:\n", roff(list.heading));
    text += arguments_of(list.options);
  }
  if (!shape.examples.empty()) {
    text += fmt::format(".PP\nExamples:\n.PP\n.nf\n{}{}.fi\n", roff(shape.examples),
                        shape.examples.ends_with('\n') ? "" : "\n");
  }
  return text;
}

/// The options that --with gives to a kind or a format.
std::string options_of(std::span<const kind_option> options) {
  std::string text;
  for (const kind_option& option : options) {
    text += fmt::format(".br\n\\fB\\-\\-with {}=\\fR{}: {}\n", roff(option.name),
                        roff(option.values), roff(option.meaning));
  }
  return text;
}

/// The page in roff's man macros, for all verbs.
std::string man_page(const tree_shape& tree, std::string_view version) {
  std::string text = fmt::format(
      ".TH BLOOMSET 1 \"\" \"bloomset {}\" \"User Commands\"\n"
      ".SH NAME\nbloomset \\- approximate sets with a known error rate\n"
      ".SH SYNOPSIS\n\\fBbloomset\\fR \\fIVERB\\fR [\\fIOPTION\\fR]... [\\fIFILE\\fR]...\n"
      ".SH DESCRIPTION\n{}\n",
      roff(version), roff(tree.summary));
  text +=
      ".PP\nWrite counts as 1000, 10M or 1e9, sizes as 120MB (powers of 1000) or 1GiB "
      "(powers of 1024), rates as 1%, 0.01 or 1/1000.\n";
  text += ".SH OPTIONS\n" + arguments_of(tree.options);
  text += ".SH VERBS\n";
  for (const verb_shape& verb : tree.verbs) text += verb_section(verb);
  text += ".SH KINDS OF FILTER\n";
  for (const kind_info& kind : kinds()) {
    text += fmt::format(".TP\n\\fB{}\\fR\n{}; {}.\n", roff(kind.name), roff(kind.summary),
                        roff(kind.strengths));
    text += options_of(kind.options);
  }
  text +=
      ".SH READERS OF KEYS\n"
      "\\fB\\-\\-keys\\fR \\fIREADER\\fR names the reader that turns a line into keys. A line "
      "without a "
      "key is never selected. A line with several keys is selected if any of them may be in the "
      "filter; \\-\\-json prints which. Query a filter with the reader that it was built with.\n";
  for (const keys::reader_kind& reader : keys::all()) {
    text += fmt::format(".TP\n\\fB{}{}\\fR\n{}.\n", roff(reader.name), roff(reader.argument),
                        roff(reader.summary));
  }
  text += ".SH FORMATS OF OTHER PROGRAMS\n";
  for (const dialects::dialect& format : dialects::all()) {
    text += fmt::format(".TP\n\\fB{}\\fR\n{}; {}.\n", roff(format.name), roff(format.summary),
                        roff(format.limits));
    text += options_of(format.options);
  }
  text +=
      ".SH EXIT STATUS\n"
      ".TP\n0\nSuccess. For verbs that select lines: some line was selected.\n"
      ".TP\n1\nNo line was selected. For \\fBremove\\fR: some line was certainly not a member.\n"
      ".TP\n2\nAn error. Standard error has one sentence about it.\n";
  return text;
}

action define(CLI::App& app) {
  return [&app]() -> result<status> {
    fmt::print("{}", man_page(shape_of_whole(app), BLOOMSET_VERSION));
    return done;
  };
}

}  // namespace man
}  // namespace

command man_command() {
  return {"man", "print the man page",
          "  bloomset man | man -l -\n"
          "  bloomset man > /usr/local/share/man/man1/bloomset.1\n",
          man::define};
}

}  // namespace bloomset::cli
