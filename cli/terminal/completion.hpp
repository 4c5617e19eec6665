#pragma once

// Scripts that complete the command line in a shell: verbs, options, values that can be listed, and
// file names.

#include <array>
#include <string>

#include "terminal/tree.hpp"

namespace bloomset::cli {

inline constexpr std::array shells = {"bash", "zsh", "fish"};

/// For bash 4 and later. Does not need the bash-completion package.
std::string bash_completion(const tree_shape& tree);
/// For zsh's compsys. The file is named _bloomset, in a folder of $fpath.
std::string zsh_completion(const tree_shape& tree);
std::string fish_completion(const tree_shape& tree);

}  // namespace bloomset::cli
