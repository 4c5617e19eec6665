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

/// How a line uses an address before or after a name.
enum class address_use : std::uint8_t {
  none,   ///< not an address
  block,  ///< of this machine, or of none
  other,
};
address_use use_of_address(std::string_view text) noexcept;

/// Whether a rule of an ad blocker may name a host of one part, such as a top-level domain.
enum class one_part : bool { is_no_host, is_host };

/// Appends the expressions that a line lists: none for a comment and other lines that block
/// nothing. Fails for a line that blocks something no expression stands for, because it would never
/// be found.
result<void> read_list_line(std::string_view line, list_form form,
                            std::vector<std::string>& expressions,
                            one_part alone = one_part::is_no_host);

}  // namespace bloomset::keys
