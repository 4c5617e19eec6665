#pragma once

// Text from outside, as it may be shown.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bloomery::cli {

/// The text with control characters as \x1b, so that it cannot steer the terminal.
std::string printable(std::string_view text);

/// The UTF-8 character that begins there, or the single byte where it is none.
std::string_view character_at(std::string_view text, std::size_t at) noexcept;

/// The column of a byte, counted in characters from 1.
std::size_t column_of(std::string_view text, std::size_t at) noexcept;

/// Columns that the text takes, one a character.
std::size_t width_of(std::string_view text) noexcept;

/// Words joined by spaces, in lines of at most 80 columns, each ended; the first is indented by
/// `first` columns and the others by `rest`. A longer word has a line of its own.
std::string wrapped(std::string_view text, std::size_t first, std::size_t rest);

/// Colours for a terminal, or none.
enum class tint : std::uint8_t { none, strong, good, known, bad, dim };
class palette {
 public:
  explicit palette(bool coloured) : coloured_(coloured) {}
  /// Colours if standard output is a terminal and NO_COLOR is not set (https://no-color.org).
  static palette for_stdout();
  std::string operator()(tint how, std::string_view text) const;

 private:
  bool coloured_;
};

}  // namespace bloomery::cli
