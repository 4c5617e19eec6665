#include "teach/text/text.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>

namespace bloomset::teach {
namespace {

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      fmt::format_to(std::back_inserter(shown), "\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      shown += c;
    }
  }
  return shown;
}

std::string_view character_at(std::string_view text, std::size_t at) noexcept {
  std::size_t end = at + 1;
  while (end < text.size() && end < at + 4 && continues(text[end])) ++end;
  return text.substr(at, end - at);
}

std::size_t width_of(std::string_view text) noexcept {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::size_t column_of(std::string_view text, std::size_t at) noexcept {
  return width_of(text.substr(0, at)) + 1;
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t hanging) {
  std::string lines(indent, ' ');
  std::size_t used = indent;
  bool begun = false;  // whether the line has a word
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const std::size_t width = width_of(word);
    if (begun && used + 1 + width > line_columns) {
      lines += '\n';
      lines.append(hanging, ' ');
      used = hanging;
      begun = false;
    }
    if (begun) lines += ' ';
    used += width + (begun ? 1 : 0);
    lines += word;
    begun = true;
  }
  return lines + '\n';
}

palette palette::for_stdout() {
  const char* const no_color = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe)
  return palette(isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0'));
}

std::string palette::operator()(tint how, std::string_view text) const {
  // Select Graphic Rendition codes (ECMA-48, 8.3.117): bold, green, yellow, red, faint.
  static constexpr std::array<std::string_view, 6> codes = {"", "1", "1;32", "33", "1;31", "2"};
  if (!coloured_ || how == tint::none) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", codes.at(static_cast<std::size_t>(how)), text);
}

}  // namespace bloomset::teach
