#include <algorithm>
#include <bloomset/labels.hpp>

#include "core/format.hpp"

namespace bloomset {
namespace {

constexpr std::size_t max_name = 64;

constexpr bool is_letter(char c) noexcept {
  return c >= 'a' && c <= 'z';
}

bool is_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= max_name && is_letter(name.front()) &&
         std::ranges::all_of(name, [](char c) {
           return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
         });
}

/// The length of the character of UTF-8 that begins the text, or 0 if there is none, or if it is a
/// control character (U+0000 to U+001F, U+007F to U+009F). Table 3-7 of the Unicode Standard.
std::size_t printable(std::string_view text) noexcept {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto between = [&](std::size_t i, unsigned first, unsigned last) {
    return i < text.size() && byte(i) >= first && byte(i) <= last;
  };
  const auto follow = [&](std::size_t i) { return between(i, 0x80, 0xbf); };
  const unsigned lead = byte(0);
  if (lead >= 0x20 && lead <= 0x7e) return 1;
  if (lead == 0xc2) return between(1, 0xa0, 0xbf) ? 2 : 0;
  if (lead >= 0xc3 && lead <= 0xdf) return follow(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const unsigned first = lead == 0xe0 ? 0xa0 : 0x80;
    const unsigned last = lead == 0xed ? 0x9f : 0xbf;
    return between(1, first, last) && follow(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const unsigned first = lead == 0xf0 ? 0x90 : 0x80;
    const unsigned last = lead == 0xf4 ? 0x8f : 0xbf;
    return between(1, first, last) && follow(2) && follow(3) ? 4 : 0;
  }
  return 0;
}

bool is_value(std::string_view value) noexcept {
  if (value.empty()) return false;
  while (!value.empty()) {
    const std::size_t size = printable(value);
    if (size == 0) return false;
    value.remove_prefix(size);
  }
  return true;
}

std::size_t stored_bytes(std::string_view name, std::string_view value) noexcept {
  return name.size() + value.size() + 2;
}

}  // namespace

result<void> label_list::set(std::string_view name, std::string_view value) {
  if (!is_name(name)) {
    return fail(errc::invalid_argument,
                "the name of a label has 1 to 64 of a-z, 0-9, '.', '_' and '-', and begins with a "
                "letter; choose such a name");
  }
  if (!is_value(value)) {
    return detail::format_failure(errc::invalid_argument,
                                  "the value of the label {} is empty, is not UTF-8 or has a "
                                  "control character; give text of one line",
                                  name);
  }
  std::size_t bytes = text_bytes() + stored_bytes(name, value);
  if (const auto old = find(name)) bytes -= stored_bytes(name, *old);
  if (bytes > max_bytes) {
    return detail::format_failure(errc::invalid_argument,
                                  "with the label {} all labels have {} bytes, and at most {} are "
                                  "stored; shorten it",
                                  name, bytes, max_bytes);
  }
  const auto at = std::ranges::lower_bound(labels_, name, {}, &label::first);
  if (at != labels_.end() && at->first == name) {
    at->second = value;
  } else {
    labels_.emplace(at, name, value);
  }
  return {};
}

bool label_list::remove(std::string_view name) noexcept {
  return std::erase_if(labels_, [name](const label& each) { return each.first == name; }) != 0;
}

void label_list::keep_common(const label_list& other) {
  std::erase_if(labels_, [&other](const label& each) {
    const auto theirs = other.find(each.first);
    return !theirs || *theirs != each.second;
  });
}

std::optional<std::string_view> label_list::find(std::string_view name) const noexcept {
  const auto at = std::ranges::find(labels_, name, &label::first);
  if (at == labels_.end()) return std::nullopt;
  return at->second;
}

std::size_t label_list::text_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const auto& [name, value] : labels_) bytes += stored_bytes(name, value);
  return bytes;
}

std::string label_list::text() const {
  std::string text;
  for (const auto& [name, value] : labels_) {
    text.append(name).append(1, '=').append(value).append(1, '\n');
  }
  return text;
}

result<label_list> label_list::parse(std::string_view text) {
  label_list list;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    const std::size_t equals = line.find('=');
    if (end == std::string_view::npos || equals == std::string_view::npos) {
      return fail(errc::corrupt, "its labels are not lines of name=value");
    }
    const std::string_view name = line.substr(0, equals);
    const bool ascends = list.empty() || list.labels_.back().first < name;
    if (!ascends || !list.set(name, line.substr(equals + 1))) {
      return fail(errc::corrupt, "its labels cannot be");
    }
    rest.remove_prefix(end + 1);
  }
  return list;
}

}  // namespace bloomset
