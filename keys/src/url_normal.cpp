// The normal form of URLs: WHATWG's parsing and serialising, with the normalisations of RFC 3986,
// section 6.2.2. A URL of ordinary bytes is copied part by part; everything else is a slow path of
// its own.

#include "url_normal.hpp"

#include <algorithm>
#include <array>
#include <bloomset/keys/url.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "url_host.hpp"
#include "url_text.hpp"
#include "utf8.hpp"

namespace bloomset::keys {
namespace {

failure not_a_url(std::string_view why) {
  return fail(errc::invalid_argument, "not a URL: " + std::string(why));
}

using byte_set = std::array<bool, 256>;

/// The bytes that WHATWG escapes in every part (the C0 control percent-encode set and the space),
/// with more of one part.
constexpr byte_set escaped_bytes(std::string_view more) {
  byte_set set{};
  for (std::size_t c = 0; c < set.size(); ++c) set[c] = c <= 0x20 || c >= 0x7f;
  for (const char c : more) set[static_cast<unsigned char>(c)] = true;
  return set;
}

// WHATWG URL Standard, section 1.3. '%' begins an escape, or stays.
constexpr byte_set of_path = escaped_bytes("\"#<>?^`{}");
constexpr byte_set of_query = escaped_bytes("\"#<>");
constexpr byte_set of_special_query = escaped_bytes("\"#<>'");
constexpr byte_set of_userinfo = escaped_bytes("\"#<>?^`{}/:;=@[\\]|");

/// A scheme whose URLs have a host, a default port, and backslashes that are slashes.
struct special_scheme {
  std::string_view name;
  unsigned port;
};

const special_scheme* find_special(std::string_view scheme) noexcept {
  static constexpr std::array<special_scheme, 5> all = {
      {{"https", 443}, {"http", 80}, {"ftp", 21}, {"wss", 443}, {"ws", 80}}};
  const auto* const found = std::ranges::find(all, scheme, &special_scheme::name);
  return found == all.end() ? nullptr : found;
}

/// RFC 3986, section 2.3: an escape of such a byte means the byte.
constexpr bool is_unreserved(char c) noexcept {
  const char low = lower(c);
  return (low >= 'a' && low <= 'z') || is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

void append_escape(std::string& to, char c) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  to += {'%', digits[byte / 16], digits[byte % 16]};
}

/// Appends a part with these bytes escaped, the digits of escapes in upper case, and escapes of
/// unreserved bytes replaced.
void append_part(std::string& to, std::string_view part, const byte_set& escaped) {
  const std::size_t begin = to.size();
  std::vector<std::size_t> strays;  // the ends of each '%' that begins no escape
  for (std::size_t at = 0; at < part.size();) {
    std::size_t plain = at;
    while (plain < part.size() && part[plain] != '%' &&
           !escaped[static_cast<unsigned char>(part[plain])]) {
      ++plain;
    }
    to.append(part, at, plain - at);
    at = plain;
    if (at == part.size()) break;
    char byte = part[at];
    if (byte != '%') {
      append_escape(to, byte);
      ++at;
    } else if (at + 2 < part.size() && from_hex(part.substr(at + 1, 2), &byte)) {
      if (is_unreserved(byte)) {
        to += byte;
      } else {
        append_escape(to, byte);
      }
      at += 3;
    } else {
      to += '%';
      strays.push_back(to.size());
      ++at;
    }
  }
  // Two digits behind a stray '%' would be an escape, and another URL: "%%341" would become "%41".
  // So the first of them becomes one.
  std::string apart;
  std::size_t copied = begin;
  for (const std::size_t stray : strays) {
    if (stray + 1 >= to.size() || !is_hex_digit(to[stray]) || !is_hex_digit(to[stray + 1])) {
      continue;
    }
    apart.append(to, copied, stray - copied);
    append_escape(apart, to[stray]);
    copied = stray + 1;
  }
  if (copied == begin) return;
  apart.append(to, copied);
  to.resize(begin);
  to += apart;
}

/// The bytes of ASCII that a domain may have, in lower case; 0 for all others (WHATWG, forbidden
/// domain code points).
constexpr auto domain_bytes = [] {
  std::array<char, 256> to{};
  for (unsigned c = 0x21; c < 0x7f; ++c) to[c] = lower(static_cast<char>(c));
  for (const char c : std::string_view("#%/:<>?@[\\]^|")) to[static_cast<unsigned char>(c)] = 0;
  return to;
}();

/// Whether the last label is a number, so that the whole must be an IPv4 address.
bool ends_in_number(std::string_view host) noexcept {
  const std::string_view last = host.substr(host.rfind('.') + 1);  // npos + 1 is the whole
  if (last.empty() || !is_digit(last.front())) return false;
  return std::ranges::all_of(last, is_digit) || last == "0x" || address_number(last).has_value();
}

/// WHATWG's IPv4 parser. Unlike in Safe Browsing, each number must fit its place.
std::optional<std::uint32_t> ipv4_number(std::string_view host) noexcept {
  std::uint32_t address = 0;
  for (unsigned place = 0; place < 4; ++place) {
    const std::size_t dot = host.find('.');
    const std::string_view part = host.substr(0, dot);
    const auto number = part == "0x" ? 0 : address_number(part);
    if (!number) return std::nullopt;
    if (dot == npos) {
      if (*number > std::numeric_limits<std::uint32_t>::max() >> 8 * place) return std::nullopt;
      return address | *number;
    }
    if (*number > 0xff) return std::nullopt;
    address |= *number << (24 - 8 * place);
    host.remove_prefix(dot + 1);
  }
  return std::nullopt;
}

result<void> append_ipv6(std::string& to, std::string_view host) {
  const auto groups =
      host.ends_with(']') ? parse_ipv6(host.substr(1, host.size() - 2)) : std::nullopt;
  if (!groups) {
    return not_a_url(
        "the text in brackets is not an IPv6 address; write one as in http://[2001:db8::1]/");
  }
  to += ipv6_text(*groups);
  return {};
}

constexpr std::string_view long_host =
    "its host is longer than the 255 bytes of a name; is this line a single URL?";

/// The domain after its escapes were replaced and it was converted to Punycode.
result<void> append_other_domain(std::string& to, std::string_view host) {
  std::string domain;
  for (std::size_t at = 0; at < host.size();) {
    char byte = host[at];
    const bool escape =
        byte == '%' && at + 2 < host.size() && from_hex(host.substr(at + 1, 2), &byte);
    domain += escape ? lower(byte) : lower(host[at]);
    at += escape ? 3 : 1;
  }
  if (!is_ascii(domain)) domain = in_punycode(domain);
  if (domain.size() > longest_host) return not_a_url(long_host);
  const std::size_t first = to.size();
  for (const char c : domain) {
    if (static_cast<unsigned char>(c) >= 0x80) {
      append_escape(to, c);  // a label that has no Punycode
      continue;
    }
    const char low = domain_bytes[static_cast<unsigned char>(c)];
    if (low == 0) {
      std::string shown;
      append_escape(shown, c);
      return not_a_url("its host has the byte " + shown + ", which no host has");
    }
    to += low;
  }
  if (to.size() == first) return not_a_url("its host is empty");
  return {};
}

/// The host of a special scheme.
result<void> append_domain(std::string& to, std::string_view host) {
  // A converted name has at most 255 bytes, so no valid name in UTF-8 with escapes is longer than
  // twelve times that. The limit bounds the input of libidn2.
  if (host.size() > 12 * longest_host) return not_a_url(long_host);
  const std::size_t first = to.size();
  char seen = 1;
  to.resize(first + host.size());
  char* const lowered = to.data() + first;
  for (std::size_t i = 0; i < host.size(); ++i) {
    const char low = domain_bytes[static_cast<unsigned char>(host[i])];
    lowered[i] = low;
    if (low == 0) seen = 0;
  }
  if (seen != 0 && host.size() > longest_host) return not_a_url(long_host);
  if (seen == 0) {
    to.resize(first);
    if (auto ok = append_other_domain(to, host); !ok) return ok;
  }
  // The dot of the root: DNS has one name with and without it.
  if (to.size() - first >= 2 && to.back() == '.' && to[to.size() - 2] != '.') to.pop_back();
  const std::string_view domain = std::string_view(to).substr(first);
  if (!ends_in_number(domain)) return {};
  const auto address = ipv4_number(domain);
  if (!address) {
    return not_a_url(
        "its host ends in a number but is not an IPv4 address; is a number too large?");
  }
  to.resize(first);
  to += dotted(*address);
  return {};
}

/// The host of another scheme, which need not be a domain: only letter case and escapes.
result<void> append_opaque_host(std::string& to, std::string_view host) {
  for (const char c : host) {
    if (c != '%' && static_cast<unsigned char>(c) < 0x80 &&
        domain_bytes[static_cast<unsigned char>(c)] == 0) {
      return not_a_url("its host has a byte that no host has");
    }
  }
  const std::size_t first = to.size();
  append_part(to, host, escaped_bytes(""));
  for (std::size_t i = first; i < to.size(); ++i) {
    if (to[i] == '%') {
      i += 2;  // the digits stay
    } else {
      to[i] = lower(to[i]);
    }
  }
  return {};
}

result<void> append_authority(std::string& to, std::string_view authority,
                              const special_scheme* special) {
  if (const std::size_t at = authority.rfind('@'); at != npos) {
    const std::string_view userinfo = authority.substr(0, at);
    const std::string_view user = userinfo.substr(0, userinfo.find(':'));
    const std::string_view password = userinfo.substr(std::min(user.size() + 1, userinfo.size()));
    append_part(to, user, of_userinfo);
    if (!password.empty()) {
      to += ':';
      append_part(to, password, of_userinfo);
    }
    if (!user.empty() || !password.empty()) to += '@';
    authority.remove_prefix(at + 1);
  }
  const std::size_t bracket = authority.starts_with('[') ? authority.find(']') : 0;
  const std::size_t colon = authority.find(':', std::min(bracket, authority.size()));
  const std::string_view host = authority.substr(0, colon);
  const std::string_view port = colon == npos ? "" : authority.substr(colon + 1);
  if (host.empty() && (special != nullptr || !port.empty())) {
    return not_a_url("it has no host; give a host and a path, as in example.com/index.html");
  }
  auto ok = host.starts_with('[') ? append_ipv6(to, host)
            : special != nullptr  ? append_domain(to, host)
                                  : append_opaque_host(to, host);
  if (!ok || port.empty()) return ok;
  const auto number = port_number(port);
  if (!number) {
    return not_a_url(
        "the host's ':' is not followed by a port from 0 to 65535; write http://HOST/PATH, and an "
        "IPv6 address in brackets");
  }
  if (special == nullptr || *number != special->port) to += ":" + std::to_string(*number);
  return {};
}

void append_path(std::string& to, std::string_view path, const special_scheme* special) {
  if (path.empty()) {
    to += '/';
    return;
  }
  const std::size_t first = to.size();
  if (special != nullptr && path.find('\\') != npos) {
    std::string slashed(path);
    std::ranges::replace(slashed, '\\', '/');
    append_part(to, slashed, of_path);
  } else {
    append_part(to, path, of_path);
  }
  if (std::string_view(to).substr(first).find("/.") == npos) return;
  const std::string dotted_path = to.substr(first);
  to.resize(first);
  append_resolved(to, dotted_path);
}

/// Where the authority begins. None without one.
struct url_start {
  std::size_t scheme;     ///< its length; 0 if the text has none
  std::size_t authority;  ///< none: npos
};

url_start find_start(std::string_view url, std::string& scheme) {
  const std::size_t length = scheme_length(url);
  scheme.resize(length);
  std::transform(url.begin(), url.begin() + static_cast<std::ptrdiff_t>(length), scheme.begin(),
                 lower);
  if (length == 0) return {0, 0};
  const std::string_view rest = url.substr(length + 1);
  if (find_special(scheme) != nullptr) {  // any number of slashes
    return {length, length + 1 + std::min(rest.find_first_not_of("/\\"), rest.size())};
  }
  if (rest.starts_with("//")) return {length, length + 3};
  // A host and its port look like a scheme and what follows it.
  if (scheme.find('.') != std::string::npos &&
      port_number(rest.substr(0, rest.find_first_of("/?\\")))) {
    return {0, 0};
  }
  return {length, npos};
}

// The parts in which a byte changes nothing, neither itself nor the parts.
enum ordinary_in : std::uint8_t { in_name = 1, in_path = 2, in_query = 4 };

constexpr auto ordinary_bytes = [] {
  std::array<std::uint8_t, 256> parts{};
  for (std::size_t c = 0; c < parts.size(); ++c) {
    const char byte = static_cast<char>(c);
    const bool name = is_unreserved(byte) && byte != '~';
    if (byte == '%') continue;
    parts[c] = static_cast<std::uint8_t>((name ? in_name : 0) |
                                         (of_path[c] || byte == '\\' ? 0 : in_path) |
                                         (of_special_query[c] ? 0 : in_query));
  }
  return parts;
}();

/// Appends the normal form of http://name/path?query or of its secure kind, if it is the URL itself
/// but for the letter case of the name. Most URLs are of this form, and it takes an eighth of the
/// time of append_normal_url().
bool append_ordinary(std::string& to, std::string_view url) {
  const std::size_t name = url.starts_with("http://") ? 7 : url.starts_with("https://") ? 8 : 0;
  if (name == 0) return false;
  const auto is_in = [url](std::size_t at, ordinary_in part) {
    return at < url.size() && (ordinary_bytes[static_cast<unsigned char>(url[at])] & part) != 0;
  };
  std::size_t at = name;
  std::size_t label = at;
  for (; is_in(at, in_name); ++at) {
    if (url[at] == '.') label = at + 1;
  }
  const std::size_t path = at;
  if (label == path || path - name > longest_host || is_digit(url[label])) return false;
  if (path == url.size() || url[path] != '/') return false;
  bool dots = false;
  for (; is_in(at, in_path); ++at) dots |= url[at] == '.' && url[at - 1] == '/';
  if (dots) return false;
  if (at < url.size() && url[at] == '?') {
    ++at;
    while (is_in(at, in_query)) ++at;
  }
  if (at < url.size()) return false;
  const std::size_t first = to.size();
  to.append(url);
  const auto begin = to.begin() + static_cast<std::ptrdiff_t>(first);
  std::transform(begin + static_cast<std::ptrdiff_t>(name),
                 begin + static_cast<std::ptrdiff_t>(path),
                 begin + static_cast<std::ptrdiff_t>(name), lower);
  return true;
}

}  // namespace

result<void> append_normal_url(std::string& to, std::string_view url) {
  if (append_ordinary(to, url)) return {};
  constexpr auto surrounds = [](char c) { return static_cast<unsigned char>(c) <= 0x20; };
  while (!url.empty() && surrounds(url.front())) url.remove_prefix(1);
  while (!url.empty() && surrounds(url.back())) url.remove_suffix(1);
  constexpr auto is_dropped = [](char c) { return c == '\t' || c == '\r' || c == '\n'; };
  std::string without;
  if (std::ranges::any_of(url, is_dropped)) {
    without = url;
    std::erase_if(without, is_dropped);
    url = without;
  }
  url = url.substr(0, url.find('#'));
  if (url.empty()) {
    return not_a_url(
        "it is empty without spaces and fragment; give a host and a path, as in "
        "example.com/index.html");
  }
  std::string scheme;
  const auto [length, begin] = find_start(url, scheme);
  if (begin == npos) {
    return not_a_url(
        "the text before its first ':' is not a scheme with '//' and a host after it; write "
        "http://HOST/PATH");
  }
  if (length == 0) scheme = "http";
  const special_scheme* const special = find_special(scheme);
  url.remove_prefix(begin);
  const std::string_view authority =
      url.substr(0, url.find_first_of(special != nullptr ? "/?\\" : "/?"));
  url.remove_prefix(authority.size());
  const std::string_view path = url.substr(0, url.find('?'));
  const std::string_view query = url.substr(path.size());

  to += scheme;
  to += "://";
  const std::size_t host = to.size();
  if (auto ok = append_authority(to, authority, special); !ok) return ok;
  if (scheme == "file" && std::string_view(to).substr(host) == "localhost") to.resize(host);
  append_path(to, path, special);
  append_part(to, query, special != nullptr ? of_special_query : of_query);
  return {};
}

result<std::string> normalise_url(std::string_view url) {
  std::string made;
  made.reserve(url.size() + 16);
  if (auto ok = append_normal_url(made, url); !ok) return fail(std::move(ok.error()));
  return made;
}

}  // namespace bloomset::keys
