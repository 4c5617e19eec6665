#include "domain_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "text.hpp"
#include "url_host.hpp"
#include "utf8.hpp"

namespace bloomset::keys {
namespace {

constexpr std::size_t longest_label = 63;    // RFC 1035, 2.3.4
constexpr std::size_t longest_domain = 253;  // the same in text, without the root's dot

failure not_a_domain(std::string why) {
  return fail(errc::invalid_argument, std::move(why));
}

/// A domain in ASCII and lower case: names of letters, digits, - and _ between dots.
result<void> check_domain(std::string_view domain) {
  if (domain.size() > longest_domain) {
    return not_a_domain(fmt::format("the domain has {} bytes, and no domain has more than {}",
                                    domain.size(), longest_domain));
  }
  std::size_t label = 0;
  for (const char c : domain) {
    if (c == '.') {
      if (label == 0) break;
      label = 0;
      continue;
    }
    if (!is_digit(c) && !(c >= 'a' && c <= 'z') && c != '-' && c != '_') {
      return not_a_domain(fmt::format("{} is not allowed in a domain", in_quotes({&c, 1})));
    }
    if (++label > longest_label) {
      return not_a_domain(
          fmt::format("a part of the domain is longer than {} bytes", longest_label));
    }
  }
  if (label == 0) return not_a_domain("the domain has an empty part");
  return {};
}

result<void> to_ascii(std::string_view text, std::string& name) {
  // libidn2 reads C strings, and is linear only in labels, so hostile lengths are refused here. A
  // character that it drops may have several bytes, so the limit is a wide one.
  constexpr std::size_t longest = 4 * longest_domain;
  if (text.size() > longest || text.find('\0') != std::string_view::npos) {
    return not_a_domain("the domain is longer than any, or has a zero byte");
  }
  // Label by label, because libidn2 has rules for the ASCII labels of such a name, too, that DNS
  // does not have.
  name.clear();
  for (std::string_view rest = text;;) {
    const auto dot = std::min(rest.find('.'), rest.size());
    const std::string_view label = rest.substr(0, dot);
    if (is_ascii(label)) {
      name += label;
    } else {
      const auto punycode = ascii_label(label);
      if (!punycode) {
        return not_a_domain(fmt::format("the domain {} has no form in ASCII: {}", in_quotes(text),
                                        punycode.error().message));
      }
      name += *punycode;
    }
    if (dot == rest.size()) break;
    name += '.';
    rest.remove_prefix(dot + 1);
  }
  std::transform(name.begin(), name.end(), name.begin(), lower);
  return {};
}

}  // namespace

result<void> read_domain_name(std::string_view text, std::string& name) {
  // The dot of the root: DNS has one name with and without it.
  if (text.size() > 1 && text.ends_with('.')) text.remove_suffix(1);
  if (is_ascii(text)) {
    name.resize(text.size());
    std::transform(text.begin(), text.end(), name.begin(), lower);
  } else if (auto ok = to_ascii(text, name); !ok) {
    return ok;
  }
  return check_domain(name);
}

}  // namespace bloomset::keys
