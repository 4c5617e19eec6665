#include <algorithm>
#include <bloomset/labels.hpp>

#include "core/utf8.hpp"

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

/// Whether the text is UTF-8 without control characters (U+0000 to U+001F, U+007F to U+009F).
bool is_value(std::string_view value) noexcept {
  const bool is_empty = value.empty();
  while (!value.empty()) {
    const auto first = static_cast<unsigned char>(value[0]);
    const std::size_t size = detail::character_size(value);
    if (size == 0 || first < 0x20 || first == 0x7f) return false;
    if (first == 0xc2 && static_cast<unsigned char>(value[1]) < 0xa0) return false;
    value.remove_prefix(size);
  }
  return !is_empty;
}

/// Splits the first line off, up to its equals sign and its end. The text is a stored form.
label_list::label next_label(std::string_view& text) noexcept {
  const std::size_t equals = text.find('=');
  const std::size_t end = text.find('\n', equals);
  const label_list::label first = {text.substr(0, equals),
                                   text.substr(equals + 1, end - equals - 1)};
  text.remove_prefix(end + 1);
  return first;
}

}  // namespace

result<void> label_list::set(std::string_view name, std::string_view value) {
  if (!is_name(name)) {
    return fail(errc::invalid_argument,
                "the name of a label has 1 to 64 of a-z, 0-9, '.', '_' and '-', and begins with a "
                "letter; choose such a name");
  }
  if (!is_value(value)) {
    return fail(errc::invalid_argument,
                "the value of the label " + std::string(name) +
                    " is empty, is not UTF-8 or has a control character; give text of one line");
  }
  std::string before;
  std::string after;
  for (std::string_view rest = text_; !rest.empty();) {
    const char* const begin = rest.data();
    const std::string_view other = next_label(rest).first;
    if (other == name) continue;
    (other < name ? before : after).append(begin, rest.data());
  }
  before.append(name).append(1, '=').append(value).append(1, '\n').append(after);
  if (before.size() > max_bytes) {
    return fail(errc::invalid_argument, "with the label " + std::string(name) +
                                            " all labels have " + std::to_string(before.size()) +
                                            " bytes, and at most " + std::to_string(max_bytes) +
                                            " are stored; shorten it");
  }
  text_ = std::move(before);
  return {};
}

void label_list::remove(std::string_view name) {
  const auto value = find(name);
  if (!value) return;
  const auto at = static_cast<std::size_t>(value->data() - text_.data()) - name.size() - 1;
  text_.erase(at, name.size() + value->size() + 2);
}

void label_list::keep_common(const label_list& other) {
  std::string common;
  for (std::string_view rest = text_; !rest.empty();) {
    const char* const begin = rest.data();
    const auto [name, value] = next_label(rest);
    if (other.find(name) == value) common.append(begin, rest.data());
  }
  text_ = std::move(common);
}

std::optional<std::string_view> label_list::find(std::string_view name) const noexcept {
  for (std::string_view rest = text_; !rest.empty();) {
    const label each = next_label(rest);
    if (each.first == name) return each.second;
  }
  return std::nullopt;
}

std::vector<label_list::label> label_list::all() const {
  std::vector<label> list;
  for (std::string_view rest = text_; !rest.empty();) list.push_back(next_label(rest));
  return list;
}

result<label_list> label_list::parse(std::string_view text) {
  std::string_view last;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    const std::size_t equals = line.find('=');
    if (line.size() == rest.size() || equals == std::string_view::npos) {
      return fail(errc::corrupt, "its labels are not lines of name=value");
    }
    const std::string_view name = line.substr(0, equals);
    if (!is_name(name) || !is_value(line.substr(equals + 1)) || name <= last ||
        text.size() > max_bytes) {
      return fail(errc::corrupt, "its labels are out of order or malformed");
    }
    last = name;
    rest.remove_prefix(line.size() + 1);
  }
  label_list list;
  list.text_ = text;
  return list;
}

}  // namespace bloomset
