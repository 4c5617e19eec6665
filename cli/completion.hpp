#pragma once

// Scripts that complete the command line in a shell. They list verbs, options, values that can be
// listed, and file names where a file is meant.

#include <string>

#include "tree.hpp"

namespace bloomery::cli {

/// For bash 4 and later; needs nothing of the bash-completion package.
std::string bash_completion(const tree_shape& tree);
/// For zsh's compsys, to be named _bloomery in a folder of $fpath.
std::string zsh_completion(const tree_shape& tree);
std::string fish_completion(const tree_shape& tree);

}  // namespace bloomery::cli
