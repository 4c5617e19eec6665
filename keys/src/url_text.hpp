#pragma once

// Functions on a URL's bytes that need not know which part they are.

#include <string>
#include <string_view>

#include "text.hpp"

namespace bloomset::keys {

/// Appends the text with every %XX replaced by its byte, until none is left. O(text.size()).
void append_unescaped(std::string& to, std::string_view text);

/// Appends the text with bytes up to 0x20, from 0x7f, '#' and '%' as %XX.
void append_escaped(std::string& to, std::string_view text);

/// Appends a path, which begins with a slash, with single slashes and without "." and "..".
void append_resolved(std::string& to, std::string_view path);

}  // namespace bloomset::keys
