#include "terminal/tree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <bloomset/any_filter.hpp>
#include <bloomset/dialects/dialect.hpp>
#include <bloomset/keys/reader.hpp>
#include <string_view>

#include "teach/text/text.hpp"
#include "terminal/completion.hpp"
#include "terminal/declare.hpp"

namespace bloomset::cli {
namespace {

constexpr std::size_t widest_spelling = 26;
/// More options than these are shown under headings.
constexpr std::size_t max_in_one_list = 16;
/// CLI11's name for the group of an option that was given none.
constexpr std::string_view no_group = "Options";

std::vector<std::string> choices_of(std::string_view value) {
  std::vector<std::string> choices;
  if (value == "KIND") {
    for (const kind_info& kind : kinds()) choices.emplace_back(kind.name);
  } else if (value == "FORMAT") {
    for (const auto& format : dialects::all()) choices.emplace_back(format.name);
  } else if (value == "READER") {
    for (const auto& reader : keys::all()) choices.emplace_back(reader.name);
  } else if (value == "SHELL") {
    choices.assign(shells.begin(), shells.end());
  }
  return choices;
}

bool names_a_file(std::string_view value) {
  constexpr std::array names = {"FILE", "FILTER", "INPUT", "OTHER", "OUT", "OUTPUT", "PATH"};
  return std::find(names.begin(), names.end(), value) != names.end();
}

argument read_option(const CLI::Option& option) {
  argument read;
  const bool positional = option.get_positional();
  if (option.nonpositional()) {
    for (const std::string& name : option.get_lnames()) read.long_names.push_back("--" + name);
    for (const std::string& name : option.get_snames()) read.short_names.push_back("-" + name);
  }
  if (option.get_type_size() != 0 && option.get_items_expected_max() != 0) {
    // A positional is shown by its name; its type would say TEXT.
    read.value = positional ? option.get_name(true, false) : option.get_type_name();
  }
  read.meaning = option.get_description();
  if (option.get_group() != no_group) read.group = option.get_group();
  read.choices = choices_of(read.value);
  read.required = option.get_required();
  read.repeats = positional && option.get_expected_max() > 1;
  read.file = read.choices.empty() && names_a_file(read.value);
  return read;
}

std::vector<argument> read_options(const CLI::App& app) {
  std::vector<argument> options;
  for (const CLI::Option* option : app.get_options()) {
    if (option->nonpositional() && !option->get_group().empty()) {
      options.push_back(read_option(*option));
    }
  }
  const auto key = [](const argument& a) {
    const std::string& name = a.long_names.empty() ? a.short_names.front() : a.long_names.front();
    return std::pair(name == "--help", name.substr(name.find_first_not_of('-')));
  };
  std::sort(options.begin(), options.end(),
            [&](const argument& a, const argument& b) { return key(a) < key(b); });
  return options;
}

// A line of a list: the spelling, and its meaning wrapped in a second column.
void append_row(std::string& text, const std::string& spelling, std::string_view meaning,
                std::size_t column) {
  const std::string first = "  " + spelling;
  std::string lines = teach::wrapped(meaning, column, column);
  if (first.size() + 2 > column) {
    text += first + '\n' + lines;
  } else {
    text += lines.replace(0, first.size(), first);
  }
}

void append_rows(std::string& text, std::string_view heading, const std::vector<argument>& rows) {
  if (rows.empty()) return;
  text += fmt::format("\n{}:\n", heading);
  // Without a short name, the long name is indented as in the other rows.
  const auto indented = [](const argument& a) {
    const bool only_long = a.short_names.empty() && !a.long_names.empty();
    return (only_long ? "    " : "") + a.spelling();
  };
  std::size_t column = 0;
  for (const argument& row : rows) {
    if (const auto width = indented(row).size(); width <= widest_spelling) {
      column = std::max(column, width + 4);
    }
  }
  for (const argument& row : rows) {
    std::string meaning = row.meaning;
    if (!row.choices.empty()) {
      meaning += fmt::format("{}{}", meaning.empty() ? "" : ": ", fmt::join(row.choices, ", "));
    }
    append_row(text, indented(row), meaning, column);
  }
}

}  // namespace

std::string argument::spelling() const {
  std::vector<std::string> names = short_names;
  names.insert(names.end(), long_names.begin(), long_names.end());
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (!value.empty()) text += (text.empty() ? "" : " ") + value;
  return text;
}

std::string verb_shape::usage() const {
  std::string text = "bloomset " + name;
  for (const argument& option : options) {
    if (!option.required) continue;
    const auto& names = option.short_names.empty() ? option.long_names : option.short_names;
    text += fmt::format(" {} {}", names.front(), option.value);
  }
  text += " [OPTION]...";
  for (const argument& each : positionals) {
    text += each.required ? " " + each.value : " [" + each.value + "]";
    if (each.repeats) text += "...";
  }
  return text;
}

std::vector<option_list> verb_shape::option_lists() const {
  if (options.size() <= max_in_one_list) return {{"Options", options}};
  std::vector<option_list> lists;
  const auto append_group = [&](std::string_view heading) {
    option_list list;
    for (const argument& option : options) {
      if (heading.empty() ? !option.group.empty() : !option.group.starts_with(heading)) continue;
      // The remark of a heading is given to one of its options.
      if (list.heading.size() < option.group.size()) list.heading = option.group;
      list.options.push_back(option);
    }
    if (list.heading.empty()) list.heading = "Other";
    if (!list.options.empty()) lists.push_back(std::move(list));
  };
  for (const char* heading : headings::in_order) append_group(heading);
  append_group("");
  return lists;
}

verb_shape shape_of_verb(const CLI::App& verb) {
  verb_shape shape{.name = verb.get_name(),
                   .summary = verb.get_description(),
                   .examples = verb.get_footer(),
                   .positionals = {},
                   .options = read_options(verb)};
  for (const CLI::Option* option : verb.get_options()) {
    if (option->get_positional()) shape.positionals.push_back(read_option(*option));
  }
  return shape;
}

tree_shape shape_of_whole(const CLI::App& verb) {
  return shape_of(*verb.get_parent());
}

tree_shape shape_of(const CLI::App& app) {
  tree_shape tree{.summary = app.get_description(), .options = read_options(app), .verbs = {}};
  for (const CLI::App* verb : app.get_subcommands({})) {
    if (!verb->get_group().empty()) tree.verbs.push_back(shape_of_verb(*verb));
  }
  return tree;
}

std::string help_text(const tree_shape& tree) {
  std::string text = tree.summary + "\n\nUsage: bloomset VERB [OPTION]... [FILE]...\n\nVerbs:\n";
  std::size_t column = 0;
  for (const verb_shape& verb : tree.verbs) column = std::max(column, verb.name.size() + 4);
  for (const verb_shape& verb : tree.verbs) append_row(text, verb.name, verb.summary, column);
  append_rows(text, "Options", tree.options);
  text +=
      "\n"
      "Write counts as 1000, 10M or 1e9, sizes as 120MB or 1GiB, rates as 1%, 0.01 or 1/1000.\n"
      "Exit status: 0 success; 1 no line was selected or, in 'remove', some line was not a "
      "member; 2 error.\n"
      "'bloomset help VERB' shows a verb's options and examples.\n";
  return text;
}

std::string help_text(const verb_shape& verb) {
  std::string text = fmt::format("{}\n\nUsage: {}\n", verb.summary, verb.usage());
  append_rows(text, "Arguments", verb.positionals);
  for (const option_list& list : verb.option_lists()) append_rows(text, list.heading, list.options);
  if (!verb.examples.empty()) {
    text += "\nExamples:\n" + verb.examples;
    if (!text.ends_with('\n')) text += '\n';
  }
  return text;
}

}  // namespace bloomset::cli
