#include <bloomset/property.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/format.hpp"

namespace bloomset {
namespace {

/// The bytes of the character at the begin of a text that is not empty. 0 if they are not UTF-8.
std::size_t character_size(std::string_view text) noexcept {
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

void append_json(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    const char first = text[0];
    if (size == 0) {
      out += "\xEF\xBF\xBD";
    } else if (first == '"' || first == '\\') {
      out += {'\\', first};
    } else if (static_cast<unsigned char>(first) < 0x20) {
      constexpr std::string_view digits = "0123456789abcdef";
      const auto code = static_cast<unsigned>(first);
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
