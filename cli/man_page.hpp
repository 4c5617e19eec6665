#pragma once

// The man page, section 1.

#include <string>
#include <string_view>

#include "tree.hpp"

namespace bloomery::cli {

/// The page in roff's man macros, for all verbs.
std::string man_page(const tree_shape& tree, std::string_view version);

}  // namespace bloomery::cli
