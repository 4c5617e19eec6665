// Domains of block lists. A query has a name and all its parents, because an entry stands for the
// names below it, too.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "blocklist.hpp"
#include "domain_name.hpp"
#include "rows.hpp"
#include "text.hpp"

namespace bloomset::keys {
namespace {

enum class domain_list : std::uint8_t { names, hosts, adblock, rpz, dnsmasq };

constexpr std::array<std::string_view, 5> list_names = {"", "hosts", "adblock", "rpz", "dnsmasq"};

failure no_domain(std::string why) {
  return fail(errc::invalid_argument, std::move(why));
}

std::string_view next_word(std::string_view& text) noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(spaces));
  text.remove_prefix(word.size());
  return word;
}

bool same_word(std::string_view one, std::string_view other) noexcept {
  return std::ranges::equal(one, other, {}, lower, lower);
}

/// Without the mark of the names below a domain, which an entry stands for anyway.
std::string_view without_wildcard(std::string_view name) noexcept {
  if (name.starts_with("*.")) return name.substr(2);
  return name.starts_with('.') && name.size() > 1 ? name.substr(1) : name;
}

bool is_address(std::string_view name) noexcept {
  return std::ranges::all_of(name, [](char c) { return is_digit(c) || c == '.'; });
}

/// Without a '#' at the beginning or after a space, and all after it.
std::string_view without_comment(std::string_view line) noexcept {
  for (auto at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    if (at == 0 || spaces.find(line[at - 1]) != std::string_view::npos) {
      return trimmed(line.substr(0, at));
    }
  }
  return line;
}

/// The form of lists that a line is perhaps of, which is not a name; empty if none is likely.
std::string_view likely_form(std::string_view line) noexcept {
  std::string_view rest = line;
  const std::string_view first = next_word(rest);
  const std::string_view second = next_word(rest);
  if (use_of_address(first) != address_use::none && !second.empty()) return "hosts";
  if (line.starts_with("||") || line.starts_with("@@") || line.starts_with('!') ||
      line.starts_with("[Adblock")) {
    return "adblock";
  }
  for (const std::string_view option : {"address=/", "server=/", "local=/"}) {
    if (line.starts_with(option)) return "dnsmasq";
  }
  const bool is_record = same_word(second, "CNAME") || same_word(second, "IN");
  return is_record || line.starts_with(';') || line.starts_with('$') || first == "@" ? "rpz" : "";
}

class domain final : public reader {
 public:
  domain(domain_list form, purpose why) noexcept : form_(form), why_(why) {}

 private:
  result<void> read_record(std::string_view record, key_list& keys) override {
    record = without_mark(record);
    const bool is_indented =
        !record.empty() && spaces.find(record.front()) != std::string_view::npos;
    // No domain has a '#', so it begins a comment in a list of names.
    const bool is_name = why_ == purpose::ask || form_ == domain_list::names;
    record = trimmed(is_name ? record.substr(0, record.find('#')) : record);
    if (record.empty()) return {};
    if (why_ == purpose::ask) return read_queried(record, keys);
    switch (form_) {
      case domain_list::hosts:
        return read_expressions(record, list_form::hosts, keys);
      case domain_list::adblock:
        if (record.starts_with("@@")) count_exception();
        return read_expressions(record, list_form::adblock, keys);
      case domain_list::rpz:
        // An indented line continues a record, or has one more for the name before it.
        return is_indented ? result<void>() : read_rpz(record, keys);
      case domain_list::dnsmasq:
        return read_dnsmasq(record, keys);
      case domain_list::names:
        break;
    }
    auto ok = add(without_wildcard(record), keys);
    const std::string_view form = ok ? std::string_view() : likely_form(record);
    if (form.empty()) return ok;
    return no_domain(
        fmt::format("{}; domain:{} reads lists of such lines", ok.error().message, form));
  }

  result<void> add(std::string_view text, key_list& keys) {
    if (auto ok = read_domain_name(text, name_); !ok) return in_record(text, ok.error());
    if (is_address(name_)) {
      return no_domain(fmt::format("{} is an address and not a domain", in_quotes(text)));
    }
    keys.add(name_);
    return {};
  }

  static failure in_record(std::string_view text, const failure& why) {
    return no_domain(fmt::format("{} is not a domain: {}", in_quotes(text), why.message));
  }

  result<void> read_queried(std::string_view record, key_list& keys) {
    if (auto ok = read_domain_name(record, name_); !ok) return in_record(record, ok.error());
    for (std::string_view rest = name_;;) {
      keys.add(rest);
      const auto dot = rest.find('.');
      if (dot == std::string_view::npos) return {};
      rest.remove_prefix(dot + 1);
    }
  }

  /// The forms that Safe Browsing's reader knows: host/ is a domain, host/path is not.
  result<void> read_expressions(std::string_view record, list_form form, key_list& keys) {
    listed_.clear();
    if (auto ok = read_list_line(record, form, listed_, one_part::is_host); !ok) return ok;
    for (const std::string_view expression : listed_) {
      if (expression.find('/') + 1 != expression.size()) {
        return no_domain(
            fmt::format("{} lists a page of a host, and not the host", in_quotes(record)));
      }
      if (auto ok = add(expression.substr(0, expression.size() - 1), keys); !ok) return ok;
    }
    return {};
  }

  /// A line of a response policy zone (draft-vixie-dnsop-dns-rpz), in a zone file (RFC 1035, 5.1).
  result<void> read_rpz(std::string_view record, key_list& keys) {
    if (record.starts_with(';')) return {};
    std::string_view rest = record.substr(0, record.find(';'));
    const std::string_view owner = next_word(rest);
    if (owner.starts_with('$')) return read_directive(record, owner);
    std::string_view type = next_word(rest);
    // The time to live and the class, in any order.
    while (same_word(type, "IN") || (!type.empty() && is_digit(type.front()))) {
      type = next_word(rest);
    }
    const std::string_view target = next_word(rest);
    // The records of the zone itself.
    if (owner == "@" || same_word(type, "SOA") || same_word(type, "NS")) return {};
    if (target.empty() || !(same_word(type, "CNAME") || same_word(type, "A") ||
                            same_word(type, "AAAA") || same_word(type, "TXT"))) {
      return no_domain(
          fmt::format("{} is not a line of a response policy zone, such as "
                      "\"evil.example CNAME .\"",
                      in_quotes(record)));
    }
    if (same_word(target, "rpz-passthru.")) {
      count_exception();
      return {};
    }
    for (const std::string_view trigger :
         {".rpz-ip", ".rpz-client-ip", ".rpz-nsdname", ".rpz-nsip"}) {
      if (owner.ends_with(trigger)) {
        return no_domain(fmt::format("{} blocks by {}, and not by the name that is queried",
                                     in_quotes(record), trigger.substr(1)));
      }
    }
    if (owner.ends_with('.')) {
      return no_domain(
          fmt::format("{} ends with a dot, so it has the name of its zone at the end; "
                      "give names that are relative to the zone",
                      in_quotes(owner)));
    }
    return add(without_wildcard(owner), keys);
  }

  /// Names after $ORIGIN are relative to it, and $INCLUDE and $GENERATE stand for further names, so
  /// a filter without them would answer "no".
  static result<void> read_directive(std::string_view record, std::string_view name) {
    if (same_word(name, "$TTL")) return {};
    if (same_word(name, "$ORIGIN")) {
      return no_domain(
          fmt::format("{} gives the names after it another end; remove the line if it has "
                      "only the zone's own name, else write all names relative to the zone",
                      in_quotes(record)));
    }
    return no_domain(
        fmt::format("{} stands for records that are not in this file", in_quotes(record)));
  }

  /// A line of dnsmasq's configuration: address=/NAME/.../ADDRESS, and local= or server= without a
  /// server, which answers that the name does not exist.
  result<void> read_dnsmasq(std::string_view record, key_list& keys) {
    const std::string_view line = without_comment(record);
    if (line.empty()) return {};
    const auto equals = std::min(line.find('='), line.size());
    const std::string_view option = trimmed(line.substr(0, equals));
    const std::string_view value = trimmed(line.substr(std::min(equals + 1, line.size())));
    const bool has_address = option == "address";
    if (!(has_address || option == "local" || option == "server") || !value.starts_with('/')) {
      return no_domain(
          fmt::format("{} is not a line that blocks names, such as "
                      "address=/evil.example/0.0.0.0",
                      in_quotes(line)));
    }
    const auto last = value.rfind('/');
    if (last == 0) return no_domain(fmt::format("{} has no / after the name", in_quotes(line)));
    const std::string_view target = value.substr(last + 1);
    if (!has_address && !target.empty()) {
      return no_domain(
          fmt::format("{} sends queries to another server and blocks nothing", in_quotes(line)));
    }
    if (!target.empty() && target != "#" && use_of_address(target) != address_use::block) {
      return no_domain(fmt::format(
          "{} gives a name a real address and does not block it; blocked names have 0.0.0.0, "
          "127.0.0.1, ::, ::1, # or none",
          in_quotes(line)));
    }
    for (std::string_view names = value.substr(1, last - 1);;) {
      const auto slash = names.find('/');
      if (auto ok = add(without_wildcard(names.substr(0, slash)), keys); !ok) return ok;
      if (slash == std::string_view::npos) return {};
      names.remove_prefix(slash + 1);
    }
  }

  domain_list form_;
  purpose why_;
  std::string name_;
  std::vector<std::string> listed_;
};

result<std::unique_ptr<reader>> make_domain(std::string_view argument, purpose why) {
  const auto* const form = std::ranges::find(list_names, argument);
  if (form == list_names.end()) {
    return no_domain(
        fmt::format("{} is not a form of lists; the forms are hosts, adblock, rpz and "
                    "dnsmasq, and no form for lists of one name per line",
                    in_quotes(argument)));
  }
  return std::make_unique<domain>(static_cast<domain_list>(form - list_names.begin()), why);
}

}  // namespace

reader_kind domain_reader() noexcept {
  return {.name = "domain",
          .argument = "[:hosts|adblock|rpz|dnsmasq]",
          .summary =
              "for a list: a domain, or a line of a hosts file, of an ad blocker's list, of a "
              "response policy zone or of dnsmasq's configuration; for a query: a domain, which is "
              "queried with all its parents; the key is the domain in lower case and Punycode",
          .make = make_domain};
}

}  // namespace bloomset::keys
