#pragma once

#include <cstddef>
#include <string_view>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomset::detail {

/// The bytes of the character at the beginning of a text that is not empty. 0 if they are not
/// UTF-8.
inline std::size_t character_size(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  // Longer forms than needed, surrogates, and numbers beyond U+10FFFF.
  const unsigned second = byte(1);
  const bool is_wrong = (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second >= 0xA0) ||
                        (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second >= 0x90);
  return is_wrong ? 0 : size;
}

}  // namespace bloomset::detail

#pragma GCC visibility pop
