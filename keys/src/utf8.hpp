#pragma once

// UTF-8, read strictly.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace bloomset::keys {

/// Removes the first character from the front of a text that is not empty. None if the bytes are
/// not UTF-8: too short, longer than needed, a surrogate, or beyond U+10FFFF (RFC 3629).
std::optional<char32_t> take_character(std::string_view& text) noexcept;

/// Appends a character that take_character() may return.
void append_character(std::string& to, char32_t character);

inline bool is_ascii(std::string_view text) noexcept {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace bloomset::keys
