#include "blocklist.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/keys/url.hpp>
#include <cstddef>
#include <optional>
#include <ranges>

#include "text.hpp"
#include "url_host.hpp"
#include "url_text.hpp"

namespace bloomset::keys {
namespace {

failure wrong_line(std::string why) {
  return fail(errc::invalid_argument, std::move(why));
}

bool is_host_byte(char c) noexcept {
  const char low = lower(c);
  return (low >= 'a' && low <= 'z') || is_digit(c) || c == '-' || c == '_' || c == '.';
}

/// A byte that may be of a host's name before its conversion: one beyond ASCII, too.
bool may_be_of_host(char c) noexcept {
  return is_host_byte(c) || static_cast<unsigned char>(c) >= 0x80;
}

/// The first byte that no host has, in a form that can be read.
std::optional<std::string> odd_byte(std::string_view host) {
  const auto* const odd = std::ranges::find_if_not(host, is_host_byte);
  if (odd == host.end()) return std::nullopt;
  if (*odd == ' ') return "a space";
  if (*odd > 0x20 && *odd < 0x7f) return in_quotes({odd, 1});
  return fmt::format("the byte 0x{:02x}", static_cast<unsigned char>(*odd));
}

constexpr std::string_view other_forms =
    "write HOST/PATH or a URL, or read the list by safe-browsing:hosts or safe-browsing:adblock";

/// The host of an entry without scheme, path and port, as it is written.
struct written_host {
  std::string_view text;  ///< with userinfo and port
  bool has_scheme;
};

written_host host_in(std::string_view line) noexcept {
  const std::size_t scheme = scheme_length(line);
  const bool has_scheme = scheme != 0 && line.substr(scheme + 1).starts_with("//");
  if (has_scheme) line.remove_prefix(scheme + 3);
  return {line.substr(0, line.find_first_of("/?#")), has_scheme};
}

/// Whether a comment ends the line, after a space.
bool has_comment(std::string_view line) noexcept {
  for (auto at = line.find('#'); at != npos; at = line.find('#', at + 1)) {
    if (at == 0 || spaces.find(line[at - 1]) != npos) return true;
  }
  return false;
}

/// A query asks for the page, the root, and the folders down to the third below the root, each of
/// the host and of its last five parts at most (url.hpp).
constexpr std::ptrdiff_t max_queried_slashes = 4;
constexpr std::ptrdiff_t max_queried_parts = 5;

/// Whether no query for a page below this folder asks for the folder.
bool is_too_deep(std::string_view folder) noexcept {
  return std::ranges::count(folder, '/') > max_queried_slashes;
}

result<std::string> listed_expression(std::string_view line) {
  const auto written = host_in(line);
  // A URL may have a fragment; an expression has none.
  if (has_comment(line) || (!written.has_scheme && line.find('#') != npos)) {
    return wrong_line(
        fmt::format("{} has a '#', and text after it is not part of an entry; remove it, or read "
                    "the list by safe-browsing:hosts or safe-browsing:adblock",
                    in_quotes(line)));
  }
  if (written.text.find_first_of(spaces) != npos) {
    return wrong_line(fmt::format("{} is not a single host or URL: it has a space; {}",
                                  in_quotes(line), other_forms));
  }
  if (!written.has_scheme && written.text.find('@') != npos) {
    return wrong_line(
        fmt::format("{} is not a host or a URL: it has an '@'; {}", in_quotes(line), other_forms));
  }
  const auto url = canonicalise(line);
  if (!url) return fail(url.error());
  if (!url->has_address()) {
    if (const auto odd = odd_byte(url->host())) {
      return wrong_line(fmt::format("{} lists no host: {}; {}", in_quotes(line),
                                    url->host().find('%') == npos ? "no host's name has " + *odd
                                                                  : "the name has no form in ASCII",
                                    other_forms));
    }
  }
  if (url->path().ends_with("/*") && url->query().empty()) {
    return wrong_line(
        fmt::format("{} ends in '*', which is not a wildcard here; a path that ends in '/' matches "
                    "everything below it",
                    in_quotes(line)));
  }
  // A URL may be that of a page alone, but an entry that ends in a slash is a folder.
  if (!written.has_scheme && url->path().ends_with('/') && url->query().empty() &&
      is_too_deep(url->path())) {
    return wrong_line(
        fmt::format("{} is a folder that no query asks for, because it is more than "
                    "three below the root; list one above it, or write a scheme to "
                    "list this page alone",
                    in_quotes(line)));
  }
  return std::string(url->expression());
}

/// The expression for all pages of a host. `*.` at its beginning means the hosts below it, which
/// the expression includes.
result<std::string> all_of_host(std::string_view host) {
  const std::string_view name = host.substr(host.starts_with("*.") ? 2 : 0);
  if (name.empty() || !std::ranges::all_of(name, may_be_of_host)) {
    return wrong_line(fmt::format("{} is not a host", in_quotes(host)));
  }
  const auto url = canonicalise(name);
  if (!url) return wrong_line(fmt::format("{} is not a host", in_quotes(host)));
  if (!url->has_address() && odd_byte(url->host())) {
    return wrong_line(fmt::format("{} is not a host: it has no form in ASCII", in_quotes(host)));
  }
  return std::string(url->expression());
}

/// The names that hosts files give to the machine and its networks.
bool is_own_name(std::string_view host) noexcept {
  static constexpr std::array<std::string_view, 17> all = {
      "localhost",     "localhost.localdomain",
      "localhost4",    "localhost4.localdomain4",
      "localhost6",    "localhost6.localdomain6",
      "local",         "broadcasthost",
      "ip6-localhost", "ip6-loopback",
      "ip6-localnet",  "ip6-mcastprefix",
      "ip6-allnodes",  "ip6-allrouters",
      "ip6-allhosts",  "0.0.0.0",
      "127.0.0.1"};
  return std::ranges::any_of(
      all, [host](std::string_view own) { return std::ranges::equal(own, host, {}, {}, lower); });
}

}  // namespace

address_use use_of_address(std::string_view text) noexcept {
  if (const auto groups = parse_ipv6(text.substr(0, text.find('%')))) {
    const bool zeros = std::ranges::all_of(groups->begin(), groups->end() - 1,
                                           [](auto group) { return group == 0; });
    return zeros && groups->back() <= 1 ? address_use::block : address_use::other;
  }
  std::array<char, INET_ADDRSTRLEN> terminated{};
  std::array<unsigned char, 4> bytes{};
  if (text.size() >= terminated.size()) return address_use::none;
  std::ranges::copy(text, terminated.begin());
  if (inet_pton(AF_INET, terminated.data(), bytes.data()) != 1) return address_use::none;
  return bytes[0] == 0 || bytes[0] == 127 ? address_use::block : address_use::other;
}

namespace {

std::string_view take_word(std::string_view& text) noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(spaces));
  text.remove_prefix(word.size());
  return word;
}

result<void> read_hosts_line(std::string_view line, std::vector<std::string>& expressions) {
  std::string_view rest = line.substr(0, line.find('#'));
  const std::string_view first = take_word(rest);
  if (first.empty()) return {};
  std::string_view host = take_word(rest);
  address_use use = use_of_address(first);
  if (host.empty()) {
    // A list of hosts alone. An address alone is one of them, unless nothing else is meant.
    if (use == address_use::block) {
      return wrong_line(fmt::format("there is no host after the address {}", in_quotes(first)));
    }
    host = first;
    use = address_use::block;
  } else if (use == address_use::none) {
    return wrong_line(
        fmt::format("{} is not a single host, and does not begin with an address such as 0.0.0.0; "
                    "give lines of a hosts file, or one host per line",
                    in_quotes(line)));
  }
  for (; !host.empty(); host = take_word(rest)) {
    if (is_own_name(host)) continue;
    if (use == address_use::other) {
      return wrong_line(fmt::format(
          "{} gives a host a real address and does not block it; blocked hosts have 0.0.0.0, "
          "127.0.0.1, :: or ::1",
          in_quotes(line)));
    }
    auto expression = all_of_host(host);
    if (!expression) return fail(std::move(expression.error()));
    expressions.push_back(std::move(*expression));
  }
  return {};
}

/// Whether a rule hides or changes elements of a page, as in example.com##.ad: a '#' or '$', marks
/// of the kind of rule, and the same again.
bool is_cosmetic(std::string_view rule) noexcept {
  for (auto at = rule.find_first_of("#$"); at != npos; at = rule.find_first_of("#$", at + 1)) {
    const auto next = rule.find_first_not_of("@?$%", at + 1);
    if (rule[at] == '#' && next != npos && rule[next] == '#') return true;
    if (rule[at] == '$' &&
        (rule.substr(at).starts_with("$$") || rule.substr(at).starts_with("$@$")))
      return true;
  }
  return false;
}

/// Options with which a rule still blocks the whole host.
bool blocks_whole_host(std::string_view option) noexcept {
  static constexpr std::array<std::string_view, 9> all = {
      "third-party", "3p", "document", "doc", "all", "important", "popup", "network", "match-case"};
  return std::ranges::find(all, option) != all.end();
}

/// Appends the expressions of a pattern after its host: `^`, a folder, or a page. Fails if no
/// expression has the pattern's meaning.
result<void> read_pattern(std::string_view host, std::string_view tail, one_part alone,
                          std::vector<std::string>& expressions) {
  const auto expression = all_of_host(host);
  if (!expression) return fail(expression.error());
  // Safe Browsing queries a name of one part only as the host of a URL, so it does not find a
  // top-level domain.
  const bool has_one_part = expression->find('.') == std::string::npos;
  if ((has_one_part && alone == one_part::is_no_host) || host.ends_with('.')) {
    return wrong_line(fmt::format("{} is only a part of a host", in_quotes(host)));
  }
  for (const std::string_view all : {"", "^", "^*", "^|", "|", "/", "/*", "/^"}) {
    if (tail != all) continue;
    const auto parts = 1 + std::ranges::count(*expression, '.');
    if (alone == one_part::is_no_host && parts > max_queried_parts) {
      return wrong_line(fmt::format("no query finds the hosts below a name of more than {} parts",
                                    max_queried_parts));
    }
    expressions.push_back(*expression);
    return {};
  }
  if (tail.ends_with("/*")) tail.remove_suffix(1);
  // `|` is the end of the address. `^` is that, or the beginning of a query or of a folder.
  const bool page = tail.ends_with('|');
  const bool either = tail.ends_with('^') && tail.find('?') == npos;
  if (page || either) tail.remove_suffix(1);
  std::vector<std::string> tails = {std::string(tail)};
  if (either) tails.push_back(tails.front() + '/');
  const bool folder = !page && tails.back().ends_with('/') && !is_too_deep(tails.back());
  if (!tail.starts_with('/') || !(page || folder) || tail.find_first_of("*^|") != npos) {
    return wrong_line("the rule's pattern is neither a host, nor a folder or a page of one");
  }
  for (const std::string& each : tails) {
    const auto url = canonicalise(*expression + each.substr(1));
    if (!url) return fail(url.error());
    expressions.emplace_back(url->expression());
  }
  return {};
}

result<void> read_adblock_line(std::string_view rule, std::vector<std::string>& expressions,
                               one_part alone) {
  // Comments, the header, exceptions and rules for elements: none of them blocks a page.
  const bool header = rule.starts_with('[') && rule.ends_with(']');
  if (rule.starts_with('!') || rule.starts_with('#') || rule.starts_with("@@") || header) return {};
  if (is_cosmetic(rule)) return {};
  std::string_view pattern = rule;
  bool anchored = false;
  for (const std::string_view anchor : {"||", "|http://", "|https://"}) {
    if (anchored || !pattern.starts_with(anchor)) continue;
    pattern.remove_prefix(anchor.size());
    anchored = true;
  }
  if (!anchored) {
    return wrong_line(fmt::format(
        "{} does not name a host, as ||evil.example^ does; the form hosts reads a list of hosts "
        "alone",
        in_quotes(rule)));
  }
  const std::size_t dollar = std::min(pattern.find('$'), pattern.size());
  bool partly = false;
  for (const auto part :
       std::views::split(pattern.substr(std::min(dollar + 1, pattern.size())), ',')) {
    const std::string_view option(part.begin(), part.end());
    if (option == "badfilter") return {};  // it cancels another rule
    partly |= !blocks_whole_host(option);
  }
  if (partly && dollar != pattern.size()) {
    return wrong_line(
        fmt::format("{} blocks only some requests to its host, by its options", in_quotes(rule)));
  }
  pattern = pattern.substr(0, dollar);
  const std::size_t wildcard = pattern.starts_with("*.") ? 2 : 0;
  const auto* const end =
      std::find_if_not(pattern.begin() + wildcard, pattern.end(), may_be_of_host);
  const auto size = static_cast<std::size_t>(end - pattern.begin());
  const auto read = read_pattern(pattern.substr(0, size), pattern.substr(size), alone, expressions);
  if (!read) {
    return wrong_line(fmt::format("{} names no host or page that can be listed: {}",
                                  in_quotes(rule), read.error().message));
  }
  return {};
}

}  // namespace

result<void> read_list_line(std::string_view line, list_form form,
                            std::vector<std::string>& expressions, one_part alone) {
  line = trimmed(line);
  if (line.empty()) return {};
  switch (form) {
    case list_form::hosts:
      return read_hosts_line(line, expressions);
    case list_form::adblock:
      return read_adblock_line(line, expressions, alone);
    case list_form::expressions:
      break;
  }
  auto expression = listed_expression(line);
  if (!expression) return fail(std::move(expression.error()));
  expressions.push_back(std::move(*expression));
  return {};
}

}  // namespace bloomset::keys
