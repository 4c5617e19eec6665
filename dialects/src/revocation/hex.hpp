#pragma once

// Bytes as pairs of hexadecimal digits.

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace bloomset::dialects {

/// Appends the bytes, or returns false if the text is not pairs of digits, of either case.
inline bool put_hex(std::string_view text, std::vector<std::byte>& to) {
  const auto value = [](char c) -> unsigned {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
    return 16;
  };
  if (text.size() % 2 != 0) return false;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const unsigned high = value(text[i]);
    const unsigned low = value(text[i + 1]);
    if (high > 15 || low > 15) return false;
    to.push_back(static_cast<std::byte>(high << 4 | low));
  }
  return true;
}

inline std::optional<std::vector<std::byte>> from_hex(std::string_view text) {
  std::vector<std::byte> bytes;
  if (!put_hex(text, bytes)) return std::nullopt;
  return bytes;
}

}  // namespace bloomset::dialects
