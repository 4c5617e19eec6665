#pragma once

// UTF-8, read strictly.

#include <optional>
#include <string_view>

namespace bloomery::keys {

/// The first character of a text that is not empty, which is taken off its front; none if the bytes
/// are no UTF-8: too short, longer than needed, a surrogate or beyond U+10FFFF (RFC 3629).
std::optional<char32_t> take_character(std::string_view& text) noexcept;

}  // namespace bloomery::keys
