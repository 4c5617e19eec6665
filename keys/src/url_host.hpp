#pragma once

#include <array>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bloomset::keys {

struct canonical_host {
  std::string text;  ///< not escaped
  bool is_address = false;
};

/// The canonical form of a host that is fully unescaped: a name, an IPv4 address in any encoding,
/// or an IPv6 address in its brackets. Fails for an empty host, and for one of more than 255 bytes.
result<canonical_host> canonicalise_host(std::string_view host);

constexpr std::size_t longest_host = 255;  // RFC 1035, section 2.3.4

/// One number of an IPv4 address: decimal, octal after 0, hexadecimal after 0x. None if it has
/// another character, has no digit, or does not fit.
std::optional<std::uint32_t> address_number(std::string_view text) noexcept;

/// Four decimal numbers with dots between.
std::string dotted(std::uint32_t address);

using ipv6_groups = std::array<std::uint16_t, 8>;

/// The groups of an IPv6 address without brackets and zone.
std::optional<ipv6_groups> parse_ipv6(std::string_view text) noexcept;

/// The text of RFC 5952, in brackets.
std::string ipv6_text(const ipv6_groups& groups);

/// A label of a host name, or several, in ASCII by UTS #46, non-transitional, as browsers convert
/// it (symbols are allowed). Fails with a sentence's end: the reason. O(size) for each label.
result<std::string> ascii_label(std::string_view label);

/// A lower-case host with each label beyond ASCII in Punycode. Labels are converted one by one, so
/// a label that cannot be converted stays unchanged and does not affect the others.
std::string in_punycode(std::string_view host);

}  // namespace bloomset::keys
