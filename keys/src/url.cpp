#include <algorithm>
#include <bloomset/keys/url.hpp>
#include <optional>
#include <utility>

#include "url_host.hpp"
#include "url_text.hpp"

namespace bloomset::keys {
namespace {

/// Removes the text before the first of these bytes from `text`, and returns it.
std::string_view take_until(std::string_view& text, std::string_view ends) noexcept {
  const std::string_view front = text.substr(0, text.find_first_of(ends));
  text.remove_prefix(front.size());
  return front;
}

/// Where userinfo, host and port begin. None if the text is another kind of URL.
std::optional<std::size_t> authority_start(std::string_view text) noexcept {
  const std::size_t scheme = scheme_length(text);
  if (scheme == 0) return 0;
  std::string_view rest = text.substr(scheme + 1);
  if (rest.starts_with("//")) return scheme + 3;
  const bool is_host = text.substr(0, scheme).find('.') != npos;
  if (is_host && port_number(take_until(rest, "/?"))) return 0;
  return std::nullopt;
}

/// The length of the userinfo at the beginning of an authority, with its '@'.
std::size_t userinfo_length(std::string_view authority) noexcept {
  const std::size_t at = authority.rfind('@');
  return at == npos ? 0 : at + 1;
}

/// The URL without surrounding spaces, TAB, CR, LF, fragment and userinfo. These are removed before
/// escapes are replaced, because replaced bytes could be delimiters. Browsers open b.com for
/// http://a.com%2f@b.com/, and so does this reader.
std::string stripped(std::string_view url) {
  constexpr auto surrounds = [](char c) { return static_cast<unsigned char>(c) <= 0x20; };
  while (!url.empty() && surrounds(url.front())) url.remove_prefix(1);
  while (!url.empty() && surrounds(url.back())) url.remove_suffix(1);
  std::string text(url.substr(0, url.find('#')));
  std::erase_if(text, [](char c) { return c == '\t' || c == '\r' || c == '\n'; });
  if (const auto start = authority_start(text)) {
    std::string_view rest = std::string_view(text).substr(*start);
    text.erase(*start, userinfo_length(take_until(rest, "/?")));
  }
  return text;
}

/// Removes the port from an authority without userinfo. False if it is not a port.
bool take_port(std::string_view& authority) noexcept {
  const std::size_t bracket = authority.starts_with('[') ? authority.find(']') : 0;
  const std::size_t colon = authority.find(':', std::min(bracket, authority.size()));
  if (colon == npos) return true;
  const std::string_view port = authority.substr(colon + 1);
  authority = authority.substr(0, colon);
  return port_number(port).has_value();
}

}  // namespace

result<canonical_url> canonicalise(std::string_view url) {
  std::string scratch = stripped(url);
  if (scratch.empty()) {
    return fail(errc::invalid_argument,
                "not a URL: it is empty without spaces and fragment; give a host and a path, as in "
                "example.com/index.html");
  }
  std::string plain;
  plain.reserve(scratch.size());
  append_unescaped(plain, scratch);
  const auto start = authority_start(plain);
  if (!start) {
    return fail(errc::invalid_argument,
                "not a URL: the text before its first ':' is not a scheme with '//' and a host "
                "after it; write http://HOST/PATH");
  }
  std::string_view rest = std::string_view(plain).substr(*start);
  std::string_view authority = take_until(rest, "/?");
  authority.remove_prefix(userinfo_length(authority));
  const std::string_view path = take_until(rest, "?");
  if (!take_port(authority)) {
    return fail(errc::invalid_argument,
                "not a URL: the host's ':' is not followed by a port from 0 to 65535; write "
                "http://HOST/PATH, and an IPv6 address in brackets");
  }
  auto host = canonicalise_host(authority);
  if (!host) return fail(std::move(host.error()));

  canonical_url made;
  std::string& text = made.text_;
  text.clear();
  text.reserve(plain.size() + 16);
  if (*start == 0) {
    text = "http://";
  } else {
    text.append(plain, 0, *start);
    std::ranges::transform(text, text.begin(), lower);
  }
  made.host_ = text.size();
  append_escaped(text, host->text);
  made.path_ = text.size();
  scratch.clear();
  // The published order: first the segments "." and "..", then the slashes.
  append_resolved(scratch, path.empty() ? "/" : path);
  join_slashes(scratch, 0);
  append_escaped(text, scratch);
  made.query_ = text.size();
  append_escaped(text, rest);
  made.has_address_ = host->is_address;
  return made;
}

expression_list url_expressions(const canonical_url& url) noexcept {
  const std::string_view all = url.expression();
  const std::string_view host = url.host();
  const std::string_view path = url.path();

  // Where the hosts begin in `all`: the exact one, then the last five components to the last two.
  std::array<std::size_t, expression_list::max_hosts> hosts{};
  std::size_t host_count = 1;
  if (!url.has_address()) {
    std::array<std::size_t, 4> shorter{};  // from two components to five
    std::size_t found = 0;
    std::size_t dot = host.rfind('.');
    while (dot != npos && dot != 0 && found < shorter.size()) {
      dot = host.rfind('.', dot - 1);
      if (dot != npos) shorter.at(found++) = dot + 1;
    }
    while (found > 0) hosts.at(host_count++) = shorter.at(--found);
  }

  // Where the paths end: with query, without, then at the first four slashes.
  std::array<std::size_t, expression_list::max_paths> paths{};
  std::size_t path_count = 0;
  const std::size_t exact = host.size() + path.size();
  if (!url.query().empty()) paths.at(path_count++) = all.size();
  paths.at(path_count++) = exact;
  std::size_t slash = 0;
  for (std::size_t depth = 0; depth < 4 && slash != npos; ++depth) {
    const std::size_t end = host.size() + slash + 1;
    if (end < exact) paths.at(path_count++) = end;
    slash = path.find('/', slash + 1);
  }

  expression_list made;
  for (std::size_t h = 0; h < host_count; ++h) {
    for (std::size_t p = 0; p < path_count; ++p) {
      made.items_.at(made.size_++) = all.substr(hosts.at(h), paths.at(p) - hosts.at(h));
    }
  }
  return made;
}

}  // namespace bloomset::keys
