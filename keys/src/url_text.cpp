#include "url_text.hpp"

#include <algorithm>
#include <cstddef>

namespace bloomset::keys {
namespace {

// Appends a byte and replaces the escape that it may complete, until none is left. One pass from
// the left gives the result of repeated passes: two escapes cannot overlap, since '%' is not a
// digit, so their order does not matter. `to` has no escape before a byte is appended, so a new one
// can only end at that byte. Each replacement removes three bytes and appends one, so all of them
// are linear. Repeated passes over %252525... would be quadratic.
void append_and_reduce(std::string& to, std::size_t first, char byte) {
  to.push_back(byte);
  while (to.size() >= first + 3 && to[to.size() - 3] == '%') {
    const int high = hex_value(to[to.size() - 2]);
    const int low = hex_value(to.back());
    if (high < 0 || low < 0) return;
    to.resize(to.size() - 3);
    to.push_back(static_cast<char>(high * 16 + low));
  }
}

}  // namespace

void append_unescaped(std::string& to, std::string_view text) {
  const std::size_t first = to.size();
  const std::size_t plain = std::min(text.find('%'), text.size());
  to.append(text.substr(0, plain));
  for (const char byte : text.substr(plain)) append_and_reduce(to, first, byte);
}

void append_escaped(std::string& to, std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f && c != '#' && c != '%') {
      to.push_back(c);
    } else {
      to.push_back('%');
      to.push_back(digits[byte / 16]);
      to.push_back(digits[byte % 16]);
    }
  }
}

void append_resolved(std::string& to, std::string_view path) {
  const std::size_t root = to.size();
  // An empty component counts as one: "/a/b//.." is "/a/b/".
  for (std::size_t at = 1; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view component = path.substr(at, end - at);
    const bool last = end == path.size();
    if (component == "..") {
      // Each byte is removed at most once, so all searches together are linear.
      if (to.size() > root) to.resize(to.rfind('/'));
    } else if (component != ".") {
      to.push_back('/');
      to.append(component);
    }
    if (last && (component == "." || component == "..")) to.push_back('/');
    at = end + 1;
  }
}

void join_slashes(std::string& path, std::size_t first) {
  std::size_t kept = first;
  for (std::size_t i = first; i < path.size(); ++i) {
    if (path[i] == '/' && kept > first && path[kept - 1] == '/') continue;
    path[kept++] = path[i];
  }
  path.resize(kept);
}

std::size_t scheme_length(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char low = lower(text[i]);
    const bool letter = low >= 'a' && low <= 'z';
    if (text[i] == ':') return i;
    if (!letter && (i == 0 || !(is_digit(low) || low == '+' || low == '-' || low == '.'))) return 0;
  }
  return 0;
}

std::optional<unsigned> port_number(std::string_view text) noexcept {
  unsigned value = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + static_cast<unsigned>(c - '0');
    if (value > 65535) return std::nullopt;
  }
  return value;
}

}  // namespace bloomset::keys
