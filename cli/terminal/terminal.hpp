#pragma once

// The width of a terminal, and text that fits it.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bloomset::cli {

/// The columns of the terminal that the descriptor is, or nothing if it is none.
std::optional<std::size_t> terminal_width(int descriptor) noexcept;

/// The text with its long lines wrapped at spaces. The rest of a line is indented like the line's
/// last column, which follows two spaces or more, if at least 12 columns are left there.
std::string fitted(std::string_view text, std::size_t columns);

}  // namespace bloomset::cli
