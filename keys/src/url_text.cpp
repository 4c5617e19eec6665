#include "url_text.hpp"

#include <algorithm>
#include <cstddef>

namespace bloomery::keys {
namespace {

// Two escapes cannot overlap, since '%' is no digit: in whichever order they are replaced, the same
// text is left (no critical pairs, and each replacement shortens it). So one pass from the left
// does what repeated passes do: no escape stands in `to` before a byte is appended, and a new one
// can only end at that byte. Each replacement takes three bytes away and appends one, which is why
// all of them are linear, where repeated passes over %252525... are quadratic.
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
  // First the components "." and "..", of which an empty one counts as one, then the slashes: the
  // published order. Both at once would take "/a/b//.." to "/a/", not to "/a/b/".
  for (std::size_t at = 1; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view component = path.substr(at, end - at);
    const bool last = end == path.size();
    if (component == "..") {
      // Each byte is taken away once at most, so that all searches together are linear.
      if (to.size() > root) to.resize(to.rfind('/'));
    } else if (component != ".") {
      to.push_back('/');
      to.append(component);
    }
    if (last && (component == "." || component == "..")) to.push_back('/');
    at = end + 1;
  }
  std::size_t kept = root;
  for (std::size_t i = root; i < to.size(); ++i) {
    if (to[i] == '/' && kept > root && to[kept - 1] == '/') continue;
    to[kept++] = to[i];
  }
  to.resize(kept);
}

}  // namespace bloomery::keys
