#include "url_host.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <idn2.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <span>

#include "url_text.hpp"
#include "utf8.hpp"

namespace bloomset::keys {
namespace {

/// Windows reads an address of at most 15 bytes up to a space: "10.192.95.89 xy" is 10.192.95.89.
std::string_view without_tail(std::string_view host) noexcept {
  const auto space = host.find(' ');
  if (host.size() > 15 || space == std::string_view::npos) return host;
  const std::string_view front = host.substr(0, space);
  unsigned dots = 0;
  for (const char c : front) {
    if (c != '.' && (c < '0' || c > '9')) return host;
    dots += c == '.';
  }
  return dots == 3 ? front : host;
}

/// The dotted form of one to four numbers with dots between. The last number fills the bytes that
/// are left, each other is one byte (inet_aton). A number with more bytes than its place keeps the
/// lowest, as in Google's client.
std::optional<std::string> ipv4_address(std::string_view host) {
  host = without_tail(host);
  std::uint32_t address = 0;
  for (unsigned place = 0; place < 4; ++place) {
    const std::size_t dot = host.find('.');
    const auto number = address_number(host.substr(0, dot));
    if (!number) return std::nullopt;
    if (dot == std::string_view::npos) return dotted(address | (*number & ~0U >> 8 * place));
    address |= (*number & 0xff) << (24 - 8 * place);
    host.remove_prefix(dot + 1);
  }
  return std::nullopt;  // five parts or more
}

/// The longest run of at least two zero groups; the first of equally long ones (RFC 5952, section
/// 4.2).
struct zero_run {
  std::size_t first = 0;
  std::size_t size = 0;
};

zero_run longest_zero_run(const ipv6_groups& groups) noexcept {
  zero_run longest;
  zero_run here;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups.at(i) != 0) {
      here = {.first = i + 1};
    } else if (++here.size > longest.size) {
      longest = here;
    }
  }
  return longest.size >= 2 ? longest : zero_run{};
}

/// A host that begins with a bracket.
result<canonical_host> ipv6_host(std::string_view host) {
  const auto groups =
      host.ends_with(']') ? parse_ipv6(host.substr(1, host.size() - 2)) : std::nullopt;
  if (!groups) {
    return fail(errc::invalid_argument,
                "not a URL: the text in brackets is not an IPv6 address; write one as in "
                "http://[2001:db8::1]/");
  }
  constexpr std::array<std::uint16_t, 6> mapped = {0, 0, 0, 0, 0, 0xffff};    // RFC 4291, 2.5.5.2
  constexpr std::array<std::uint16_t, 6> nat64 = {0x64, 0xff9b, 0, 0, 0, 0};  // RFC 6052, 2.1
  const auto front = std::span(*groups).first<6>();
  if (std::ranges::equal(front, mapped) || std::ranges::equal(front, nat64)) {
    const std::uint32_t address = std::uint32_t{groups->at(6)} << 16 | groups->at(7);
    return canonical_host{.text = dotted(address), .is_address = true};
  }
  return canonical_host{.text = ipv6_text(*groups), .is_address = true};
}

/// Removes dots from both ends and reduces several dots in a row to one.
void tidy_dots(std::string& host) {
  std::size_t kept = 0;
  for (const char c : host) {
    if (c == '.' && (kept == 0 || host[kept - 1] == '.')) continue;
    host[kept++] = c;
  }
  if (kept > 0 && host[kept - 1] == '.') --kept;
  host.resize(kept);
}

/// Bytes that no host name has. UTS #46 maps full-width delimiters to plain ones (U+FF0F to "/"),
/// and these must not become delimiters.
bool is_forbidden(char c) noexcept {
  return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f ||
         std::string_view("#%/:<>?@[\\]^|").find(c) != std::string_view::npos;
}

/// Whether the two mappings of UTS #46 differ for a label: by one of four characters.
bool has_deviation(std::string_view label) noexcept {
  constexpr std::array<std::string_view, 4> all = {"\xc3\x9f", "\xcf\x82", "\xe2\x80\x8c",
                                                   "\xe2\x80\x8d"};
  for (const std::string_view one : all) {
    if (label.find(one) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

result<std::string> ascii_label(std::string_view label) {
  if (label.find('\0') != std::string_view::npos) {  // libidn2 reads C strings
    return fail(errc::invalid_argument, "it has a zero byte");
  }
  const std::string terminated(label);
  char* made = nullptr;
  int status = idn2_to_ascii_8z(terminated.c_str(), &made, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
  // libidn2 also refuses what IDNA2008 disallows, such as symbols, unless the mapping is the
  // transitional one.
  if (status == IDN2_DISALLOWED && !has_deviation(label)) {
    status = idn2_to_ascii_8z(terminated.c_str(), &made, IDN2_NFC_INPUT | IDN2_TRANSITIONAL);
  }
  if (status != IDN2_OK) return fail(errc::invalid_argument, idn2_strerror(status));
  const std::unique_ptr<char, void (*)(void*)> owner(made, idn2_free);
  return std::string(made);
}

namespace {

/// Appends a label in Punycode. A label that has none is appended unchanged: with bytes that are
/// not UTF-8, characters that UTS #46 does not allow, or more than 63 characters. Browsers refuse
/// such a label. Here the list and the queried URL only have to agree.
void append_label(std::string& to, std::string_view label) {
  const auto punycode = ascii_label(label);
  const bool is_name = punycode && !punycode->empty() && is_ascii(*punycode) &&
                       std::ranges::none_of(*punycode, is_forbidden);
  to += is_name ? std::string_view(*punycode) : label;
}

}  // namespace

std::optional<std::uint32_t> address_number(std::string_view text) noexcept {
  unsigned base = 10;
  if (text.size() > 2 && text[0] == '0' && lower(text[1]) == 'x') {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text[0] == '0') {
    base = 8;
  }
  if (text.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    const int digit = hex_value(c);
    if (digit < 0 || static_cast<unsigned>(digit) >= base) return std::nullopt;
    value = value * base + static_cast<unsigned>(digit);
    if (value > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  }
  return static_cast<std::uint32_t>(value);
}

std::string dotted(std::uint32_t address) {
  return fmt::format("{}.{}.{}.{}", address >> 24, address >> 16 & 0xff, address >> 8 & 0xff,
                     address & 0xff);
}

std::optional<ipv6_groups> parse_ipv6(std::string_view text) noexcept {
  std::array<char, INET6_ADDRSTRLEN> terminated{};
  if (text.size() >= terminated.size() || text.find('\0') != std::string_view::npos) {
    return std::nullopt;
  }
  std::copy(text.begin(), text.end(), terminated.begin());
  std::array<std::uint8_t, 16> bytes{};
  if (inet_pton(AF_INET6, terminated.data(), bytes.data()) != 1) return std::nullopt;
  ipv6_groups groups{};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups.at(i) = static_cast<std::uint16_t>(bytes.at(2 * i) << 8 | bytes.at(2 * i + 1));
  }
  return groups;
}

std::string ipv6_text(const ipv6_groups& groups) {
  const zero_run run = longest_zero_run(groups);
  std::string text = "[";
  for (std::size_t i = 0; i < groups.size();) {
    if (run.size != 0 && i == run.first) {
      text += "::";
      i += run.size;
      continue;
    }
    if (text.size() > 1 && text.back() != ':') text += ':';
    fmt::format_to(std::back_inserter(text), "{:x}", groups.at(i++));
  }
  return text + ']';
}

std::string in_punycode(std::string_view host) {
  std::string made;
  for (std::size_t at = 0; at <= host.size();) {
    const std::size_t end = std::min(host.find('.', at), host.size());
    const std::string_view label = host.substr(at, end - at);
    if (at != 0) made += '.';
    if (is_ascii(label)) {
      made += label;
    } else {
      append_label(made, label);
    }
    at = end + 1;
  }
  tidy_dots(made);  // U+3002 is a dot, too
  return made;
}

result<canonical_host> canonicalise_host(std::string_view host) {
  canonical_host made{.text = std::string(host)};
  tidy_dots(made.text);
  // A converted name has at most 255 bytes, so no valid name in UTF-8 is longer than four times
  // that. The limit bounds the input of libidn2.
  if (made.text.size() <= 4 * longest_host) {
    std::ranges::transform(made.text, made.text.begin(), lower);
    if (!is_ascii(made.text)) made.text = in_punycode(made.text);
  }
  if (made.text.empty()) {
    return fail(errc::invalid_argument,
                "not a URL: it has no host; give a host and a path, as in example.com/index.html");
  }
  if (made.text.size() > longest_host) {
    return fail(
        errc::invalid_argument,
        "not a URL: its host is longer than the 255 bytes of a name; is this line a single URL?");
  }
  if (made.text.starts_with('[')) return ipv6_host(made.text);
  if (auto address = ipv4_address(made.text)) {
    return canonical_host{.text = std::move(*address), .is_address = true};
  }
  return made;
}

}  // namespace bloomset::keys
