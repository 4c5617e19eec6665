// Patterns, and lists of texts. How a value is written is in format.cpp.

#include "core/format_value.hpp"

namespace bloomset::detail {

std::string format_values(std::string_view pattern, std::span<const format_value> values) {
  std::string out;
  for (const format_value& value : values) {
    const std::size_t open = pattern.find('{');
    const std::size_t close = pattern.find('}', open);
    out += pattern.substr(0, open);
    const std::string_view inside = pattern.substr(open + 1, close - open - 1);
    const std::string_view spec = inside.substr(inside.starts_with(':') ? 1 : 0);
    append_value(out, value, spec);
    pattern.remove_prefix(close + 1);
  }
  return out += pattern;
}

std::string join(std::span<const std::string_view> texts, std::string_view separator) {
  std::string out;
  for (const std::string_view text : texts) {
    if (!out.empty()) out += separator;
    out += text;
  }
  return out;
}

}  // namespace bloomset::detail
