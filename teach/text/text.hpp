#pragma once

// Text for a terminal.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bloomset::teach {

/// The text with control characters written as \x1b, so that it cannot control the terminal.
std::string printable(std::string_view text);

/// The UTF-8 character at that offset, or the single byte if there is none.
std::string_view character_at(std::string_view text, std::size_t at) noexcept;

/// The column of a byte, counted in characters from 1.
std::size_t column_of(std::string_view text, std::size_t at) noexcept;

/// The width of a terminal that the walks and drawings fit into.
inline constexpr std::size_t line_columns = 80;

/// Columns of the text: one per character.
std::size_t width_of(std::string_view text) noexcept;

/// The text's words in lines of at most line_columns. The first line is indented by `indent`
/// columns, the others by `hanging`. A longer word has a line of its own. Each line ends with a
/// newline.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t hanging);

/// Colours for a terminal. A palette that is not coloured returns texts unchanged.
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

}  // namespace bloomset::teach
