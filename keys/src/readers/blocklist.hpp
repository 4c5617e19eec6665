#pragma once

// Lines of lists of bad hosts and pages, as the expressions of Safe Browsing (host/path).

#include <bloomset/result.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bloomset::keys {

enum class list_form : std::uint8_t {
  expressions,  ///< one expression or URL a line
  hosts,        ///< hosts files (an address and host names), and one host a line; # comments
  adblock,      ///< filter lists of ad blockers: ||host^
};

/// Appends the expressions that a line lists: none for a comment and other lines that block
/// nothing. Fails for a line that blocks something no expression stands for, because it would never
/// be found.
result<void> read_list_line(std::string_view line, list_form form,
                            std::vector<std::string>& expressions);

}  // namespace bloomset::keys
