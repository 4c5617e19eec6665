#include "terminal/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace bloomset::cli {
namespace {

using texts = std::vector<std::string>;

texts names_of(const argument& option) {
  texts names = option.short_names;
  names.insert(names.end(), option.long_names.begin(), option.long_names.end());
  return names;
}

texts verb_names(const tree_shape& tree) {
  texts names;
  for (const verb_shape& verb : tree.verbs) names.push_back(verb.name);
  return names;
}

// The values of VERB are the verbs, which the parser cannot list while it is constructed.
texts choices_of(const argument& each, const tree_shape& tree) {
  return each.value == "VERB" ? verb_names(tree) : each.choices;
}

std::string shell_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string escaped(std::string_view text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

// The candidates of bash for the value of this argument.
std::string bash_offer(const argument& each, const tree_shape& tree) {
  const texts choices = choices_of(each, tree);
  if (!choices.empty()) {
    return fmt::format("_bloomset_words {}",
                       shell_quoted(fmt::format("{}", fmt::join(choices, " "))));
  }
  return each.file ? "_bloomset_files" : ":";
}

std::string bash_verb(const verb_shape& verb, const tree_shape& tree) {
  std::string text = fmt::format("    {})\n      case \"$before\" in\n", verb.name);
  texts options;
  for (const argument& option : verb.options) {
    const texts names = names_of(option);
    options.insert(options.end(), names.begin(), names.end());
    if (option.value.empty()) continue;
    text +=
        fmt::format("        {}) {}; return ;;\n", fmt::join(names, "|"), bash_offer(option, tree));
  }
  text += "      esac\n";
  text += fmt::format(
      "      if [[ $current == -* ]]; then\n        _bloomset_words {}\n        return\n      fi\n",
      shell_quoted(fmt::format("{}", fmt::join(options, " "))));
  // A verb's positionals are all of one sort, or files behind a filter.
  if (!verb.positionals.empty()) {
    text += fmt::format("      {}\n", bash_offer(verb.positionals.front(), tree));
  }
  return text + "      ;;\n";
}

std::string zsh_action(const argument& each, const tree_shape& tree) {
  const texts choices = choices_of(each, tree);
  const std::string label = escaped(each.value, ":");
  if (!choices.empty()) return fmt::format(":{}:({})", label, fmt::join(choices, " "));
  return each.file ? fmt::format(":{}:_files", label) : fmt::format(":{}: ", label);
}

std::string zsh_option(const argument& option, const tree_shape& tree) {
  const texts names = names_of(option);
  const std::string rest = fmt::format("[{}]{}", escaped(option.meaning, "[]:\\"),
                                       option.value.empty() ? "" : zsh_action(option, tree));
  if (names.size() == 1) {
    return shell_quoted(names.front() + (option.value.empty() ? "" : "=") + rest);
  }
  // (-o --output)'{-o,--output=}'[...]: each excludes the others.
  texts spelled;
  for (const std::string& name : names) {
    spelled.push_back(name + (!option.value.empty() && name.starts_with("--") ? "=" : ""));
  }
  return fmt::format("{}{{{}}}{}", shell_quoted(fmt::format("({})", fmt::join(names, " "))),
                     fmt::join(spelled, ","), shell_quoted(rest));
}

std::string fish_option(const argument& option, std::string_view condition,
                        const tree_shape& tree) {
  std::string line = fmt::format("complete -c bloomset -n {}", shell_quoted(condition));
  for (const std::string& name : option.short_names) line += " -s " + name.substr(1);
  for (const std::string& name : option.long_names) line += " -l " + name.substr(2);
  if (!option.value.empty()) {
    const texts choices = choices_of(option, tree);
    if (!choices.empty()) {
      line += fmt::format(" -x -a {}", shell_quoted(fmt::format("{}", fmt::join(choices, " "))));
    } else {
      line += option.file ? " -r -F" : " -x";
    }
  }
  // In fish a backslash and a quote are escaped within single quotes.
  return fmt::format("{} -d '{}'\n", line, escaped(option.meaning, "\\'"));
}

}  // namespace

std::string bash_completion(const tree_shape& tree) {
  std::string text = R"(# bash completion for bloomset, made by 'bloomset completion bash'.

_bloomset_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
}

_bloomset_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$current")
}

_bloomset() {
  COMPREPLY=()
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb= word
  # --kind=b comes as three words: --kind, = and b.
  if [[ $current == = ]]; then
    current=
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $word != -* ]]; then
      verb=$word
      break
    fi
  done
  case "$verb" in
)";
  texts options;
  for (const argument& option : tree.options) {
    const texts names = names_of(option);
    options.insert(options.end(), names.begin(), names.end());
  }
  text += fmt::format("    '') _bloomset_words {} ;;\n",
                      shell_quoted(fmt::format("{} {}", fmt::join(verb_names(tree), " "),
                                               fmt::join(options, " "))));
  for (const verb_shape& verb : tree.verbs) text += bash_verb(verb, tree);
  return text + "  esac\n}\n\ncomplete -F _bloomset bloomset\n";
}

std::string zsh_completion(const tree_shape& tree) {
  std::string text = R"(#compdef bloomset
# zsh completion for bloomset, made by 'bloomset completion zsh'.

_bloomset() {
  local context state state_descr line
  typeset -A opt_args
  local -a verbs
  verbs=(
)";
  for (const verb_shape& verb : tree.verbs) {
    text += fmt::format("    {}\n", shell_quoted(escaped(verb.name, ":") + ":" + verb.summary));
  }
  text += "  )\n  _arguments -C \\\n";
  for (const argument& option : tree.options) {
    text += fmt::format("    {} \\\n", zsh_option(option, tree));
  }
  text += R"(    '1:verb:->verb' \
    '*::argument:->argument'
  case $state in
    verb) _describe -t verbs verb verbs ;;
    argument)
      case $words[1] in
)";
  for (const verb_shape& verb : tree.verbs) {
    text += fmt::format("        {})\n          _arguments -s", verb.name);
    for (const argument& option : verb.options) {
      text += fmt::format(" \\\n            {}", zsh_option(option, tree));
    }
    int place = 1;
    for (const argument& each : verb.positionals) {
      const std::string where = each.repeats ? "*" : fmt::format("{}", place);
      text += fmt::format(" \\\n            {}", shell_quoted(where + zsh_action(each, tree)));
      ++place;
    }
    text += "\n          ;;\n";
  }
  // The file is run as a function's body when it is autoloaded, and may also be sourced.
  return text + R"(      esac
      ;;
  esac
}

if [[ $funcstack[1] == _bloomset ]]; then
  _bloomset "$@"
else
  compdef _bloomset bloomset
fi
)";
}

std::string fish_completion(const tree_shape& tree) {
  constexpr std::string_view no_verb = "__fish_use_subcommand";
  std::string text =
      "# fish completion for bloomset, made by 'bloomset completion fish'.\n\n"
      "complete -c bloomset -f\n";
  for (const argument& option : tree.options) text += fish_option(option, no_verb, tree);
  for (const verb_shape& verb : tree.verbs) {
    text += fmt::format("complete -c bloomset -n {} -a {} -d '{}'\n", shell_quoted(no_verb),
                        shell_quoted(verb.name), escaped(verb.summary, "\\'"));
  }
  for (const verb_shape& verb : tree.verbs) {
    const std::string chosen = "__fish_seen_subcommand_from " + verb.name;
    text += '\n';
    for (const argument& option : verb.options) text += fish_option(option, chosen, tree);
    if (verb.positionals.empty()) continue;
    const argument& first = verb.positionals.front();
    if (const texts choices = choices_of(first, tree); !choices.empty()) {
      text += fmt::format("complete -c bloomset -n {} -a {}\n", shell_quoted(chosen),
                          shell_quoted(fmt::format("{}", fmt::join(choices, " "))));
    } else if (first.file) {
      text += fmt::format("complete -c bloomset -n {} -F\n", shell_quoted(chosen));
    }
  }
  return text;
}

}  // namespace bloomset::cli
