#include <bloomset/property.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/format.hpp"
#include "core/utf8.hpp"

namespace bloomset {
namespace {

void append_json(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t size = detail::character_size(text);
    const char first = text[0];
    if (size == 0) {
      out += "\xEF\xBF\xBD";
    } else if (first == '"' || first == '\\') {
      out += {'\\', first};
    } else if (first == '\n') {
      out += "\\n";
    } else if (first == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(first) < 0x20) {
      constexpr std::string_view digits = "0123456789abcdef";
      const auto code = static_cast<unsigned char>(first);
      (out += "\\u00") += {digits[code / 16], digits[code % 16]};
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  out += '"';
}

void append_json(std::string& out, std::monostate) {
  out += "null";
}
void append_json(std::string& out, bool value) {
  out += value ? "true" : "false";
}
void append_json(std::string& out, std::uint64_t value) {
  out += std::to_string(value);
}
void append_json(std::string& out, double value) {
  const std::string text = detail::format_text("{}", value);
  out += std::isfinite(value) ? text : "null";
  // A whole number stays a real one for readers that distinguish them.
  if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) out += ".0";
}

void append_json(std::string& out, const std::vector<std::string>& texts) {
  out += '[';
  for (const std::string& text : texts) {
    if (out.back() != '[') out += ',';
    append_json(out, text);
  }
  out += ']';
}

void append_json(std::string& out, const std::vector<property>& list) {
  out += '{';
  for (const property& each : list) {
    if (out.back() != '{') out += ',';
    append_json(out, each.name);
    out += ':';
    std::visit([&](const auto& value) { append_json(out, value); }, each.value);
  }
  out += '}';
}

}  // namespace

const property* find_property(const std::vector<property>& list, std::string_view name) noexcept {
  const auto at = std::ranges::find(list, name, &property::name);
  return at == list.end() ? nullptr : &*at;
}

std::string to_json(const std::vector<property>& list) {
  std::string out;
  append_json(out, list);
  return out;
}

}  // namespace bloomset
