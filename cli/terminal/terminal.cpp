#include "terminal/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace bloomset::cli {
namespace {

constexpr std::size_t min_width = 12;

/// The column at which the rest of a line continues.
std::size_t hanging_indent(std::string_view line, std::size_t columns) {
  const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.rfind("  ", columns);
  if (gap == std::string_view::npos || gap < first || gap + 2 + min_width > columns) return first;
  return gap + 2;
}

}  // namespace

std::optional<std::size_t> terminal_width(int descriptor) noexcept {
  if (::isatty(descriptor) == 0) return std::nullopt;
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

std::string fitted(std::string_view text, std::size_t columns) {
  std::string all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    const std::size_t indent = hanging_indent(line, columns);
    std::size_t used = 0;  // columns of an indent that is already written
    while (used + line.size() > columns) {
      // The first space must come after the beginning of the words.
      const std::size_t begin = used == 0 ? indent : 0;
      std::size_t cut = line.rfind(' ', columns - used);
      if (cut == std::string_view::npos || cut <= begin) cut = line.find(' ', begin + 1);
      if (cut == std::string_view::npos) break;
      all += line.substr(0, line.find_last_not_of(' ', cut) + 1);
      all += '\n';
      all.append(indent, ' ');
      line.remove_prefix(std::min(line.find_first_not_of(' ', cut), line.size()));
      used = indent;
    }
    all += line;
    all += '\n';
  }
  return all;
}

}  // namespace bloomset::cli
