#pragma once

// The command line as data, read from CLI11's apps. Help, completion and the man page are generated
// from it, so they match the parser.

#include <string>
#include <vector>

#include "terminal/cli11_fwd.hpp"

namespace bloomset::cli {

/// An option, a flag or a positional argument.
struct argument {
  std::vector<std::string> long_names;   ///< "--kind"; none for a positional
  std::vector<std::string> short_names;  ///< "-k"
  std::string value;                     ///< "KIND"; empty for a flag
  std::string meaning;
  std::string group;  ///< the heading that a long help shows it under; empty for none
  std::vector<std::string> choices;  ///< all possible values, if they can be listed
  bool required = false;
  bool repeats = false;  ///< a positional that accepts any number of values
  bool file = false;     ///< its values are file names

  /// "-o, --output FILE"
  std::string spelling() const;
};

/// Options under a heading.
struct option_list {
  std::string heading;
  std::vector<argument> options;
};

struct verb_shape {
  std::string name;
  std::string summary;
  std::string examples;  ///< lines of shell, indented by two
  std::vector<argument> positionals;
  std::vector<argument> options;  ///< sorted by their long names, --help last

  /// "bloomset check [OPTION]... FILTER [INPUT]..."
  std::string usage() const;
  /// The options as help shows them: by their groups if they are many, or else in one list.
  std::vector<option_list> option_lists() const;
};

struct tree_shape {
  std::string summary;
  std::vector<argument> options;
  std::vector<verb_shape> verbs;
};

verb_shape shape_of_verb(const CLI::App& verb);
tree_shape shape_of(const CLI::App& app);
/// The whole command line, from one of its verbs.
tree_shape shape_of_whole(const CLI::App& verb);

/// The text of --help, for the whole command line or for one verb.
std::string help_text(const tree_shape& tree);
std::string help_text(const verb_shape& verb);

}  // namespace bloomset::cli
