#include "utf8.hpp"

#include <cstddef>

namespace bloomset::keys {

std::optional<char32_t> take_character(std::string_view& text) noexcept {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) {
    text.remove_prefix(1);
    return lead;
  }
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return std::nullopt;
  char32_t character = lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) != 0x80) return std::nullopt;
    character = (character << 6) | (byte & 0x3f);
  }
  constexpr char32_t first_of_three = 0x800;
  constexpr char32_t first_of_four = 0x10000;
  const bool too_long =
      (length == 3 && character < first_of_three) || (length == 4 && character < first_of_four);
  const bool surrogate = character >= 0xd800 && character <= 0xdfff;
  if (too_long || surrogate || character > 0x10ffff) return std::nullopt;
  text.remove_prefix(length);
  return character;
}

void append_character(std::string& to, char32_t character) {
  if (character < 0x80) {
    to += static_cast<char>(character);
    return;
  }
  const int more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  to += static_cast<char>((0xff00U >> (more + 1) & 0xffU) | character >> (6 * more));
  for (int i = more - 1; i >= 0; --i) to += static_cast<char>(0x80 | (character >> (6 * i) & 0x3f));
}

}  // namespace bloomset::keys
