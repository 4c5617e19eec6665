#pragma once

// Functions on a URL's bytes that need not know which part they are.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "text.hpp"

namespace bloomset::keys {

inline constexpr auto npos = std::string_view::npos;

/// Appends the text with every %XX replaced by its byte, until none is left. O(text.size()).
void append_unescaped(std::string& to, std::string_view text);

/// Appends the text with bytes up to 0x20, from 0x7f, '#' and '%' as %XX.
void append_escaped(std::string& to, std::string_view text);

/// Appends a path, which begins with a slash, without its segments "." and "..".
void append_resolved(std::string& to, std::string_view path);

/// Reduces several slashes in a row to one, from `first` on.
void join_slashes(std::string& path, std::size_t first);

/// The length of the scheme at the beginning of the text, before a colon (RFC 3986, section 3.1),
/// else 0.
std::size_t scheme_length(std::string_view text) noexcept;

/// The number of a port, at most 65535. 0 for an empty text, because a URL may end its host with a
/// colon alone. None if it is not a number.
std::optional<unsigned> port_number(std::string_view text) noexcept;

}  // namespace bloomset::keys
