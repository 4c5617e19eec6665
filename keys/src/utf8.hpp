#pragma once

// UTF-8, read strictly.

#include <optional>
#include <string_view>

namespace bloomery::keys {

/// Removes the first character from the front of a text that is not empty. None if the bytes are
/// not UTF-8: too short, longer than needed, a surrogate, or beyond U+10FFFF (RFC 3629).
std::optional<char32_t> take_character(std::string_view& text) noexcept;

}  // namespace bloomery::keys
