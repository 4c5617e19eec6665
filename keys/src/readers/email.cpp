// E-mail addresses: one key per mailbox, as far as two spellings certainly mean the same mailbox.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <ranges>

#include "domain_name.hpp"
#include "lower_letters.hpp"
#include "rows.hpp"
#include "text.hpp"
#include "utf8.hpp"

namespace bloomset::keys {
namespace {

/// Rules for spellings of one mailbox, beyond those that every mail server must follow.
struct same_mailbox {
  bool lower = false;    ///< letters of the local part in lower case
  bool no_tags = false;  ///< the local part without its tag, from the + on
  bool gmail = false;    ///< both, and no dots, at gmail.com and googlemail.com
};

// The bytes of an atom (RFC 5322, 3.2.3), dots, and all bytes beyond ASCII (RFC 6532).
constexpr auto atom_bytes = [] {
  std::array<bool, 256> allowed{};
  for (std::size_t c = '!'; c < allowed.size(); ++c) allowed[c] = c != 0x7f;
  for (const char special : std::string_view("()<>[]:;@\\,\"")) {
    allowed[static_cast<unsigned char>(special)] = false;
  }
  return allowed;
}();

failure refuse(std::string why) {
  return fail(errc::invalid_argument, std::move(why));
}

bool is_atom(char c) noexcept {
  return atom_bytes[static_cast<unsigned char>(c)];
}

/// Sets `local` to the local part that `text` writes. Quotes that the name does not need, and
/// backslashes before characters that need none, mean nothing (RFC 5321, 4.1.2).
result<void> read_local(std::string_view text, std::string& local) {
  if (text.empty()) return refuse("there is nothing before the @");
  local.clear();
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') {
    const auto* const odd = std::ranges::find_if_not(text, is_atom);
    if (odd == text.end()) {
      local = text;
      return {};
    }
    return refuse(fmt::format("{} before the @ is not allowed in an address without quotes",
                              in_quotes({odd, 1})));
  }
  text = text.substr(1, text.size() - 2);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') return refuse("a quote within the quotes has no backslash before it");
    if (text[i] == '\\') ++i;
    if (i == text.size()) return refuse("the last quote is not closed");
    local += text[i];
  }
  if (!local.empty() && std::ranges::all_of(local, is_atom)) return {};
  std::string quoted = "\"";
  for (const char c : local) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  local = quoted + '"';
  return {};
}

/// The text without the comments at its end: `ann@a.de (Ann)` (RFC 5322, 3.2.2).
std::string_view without_comments(std::string_view text) noexcept {
  while (text.ends_with(')')) {
    std::size_t open = 0;
    std::size_t at = text.size();
    do {
      --at;
      if (text[at] == ')') ++open;
      if (text[at] == '(') --open;
    } while (open != 0 && at != 0);
    if (open != 0) break;  // no comment
    text = trimmed(text.substr(0, at));
  }
  return text;
}

/// The address of `Ann <ann@a.de>` (RFC 5322, 3.4), or the text as it is.
result<std::string_view> without_name(std::string_view text) {
  text = without_comments(text);
  if (!text.ends_with('>')) return text;
  std::optional<std::size_t> angle;
  bool quoted = false;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted && c == '\\') ++i;
    if (quoted) continue;
    if (c == '>' || (angle ? c == '<' : c == ',' || c == ';')) {
      return refuse(
          fmt::format("{} is more than a name and its address; give one address per line, and a "
                      "name that has {} in quotes",
                      in_quotes(text), in_quotes({&c, 1})));
    }
    if (c == '<') angle = i;
  }
  if (!angle) return text;
  return trimmed(text.substr(*angle + 1, text.size() - *angle - 2));
}

class email final : public reader {
 public:
  explicit email(same_mailbox same) noexcept : same_(same) {}

 private:
  result<void> read_record(std::string_view record, key_list& keys) override {
    record = trimmed(without_mark(record));
    if (record.empty()) return {};
    const auto bare = without_name(record);
    if (!bare) return fail(bare.error());
    const std::string_view address = without_scheme(*bare);
    const auto at = address.rfind('@');
    if (at == std::string_view::npos) return refuse(fmt::format("{} has no @", in_quotes(record)));
    if (auto ok = read_local(address.substr(0, at), local_); !ok) return ok;
    if (auto ok = read_domain(address.substr(at + 1)); !ok) return ok;
    key_.clear();
    if (auto ok = append_local(local_); !ok) return ok;
    key_ += '@';
    key_ += domain_;
    keys.add(key_);
    return {};
  }

  /// The address of a mailto: link without its fields (RFC 6068), or the text as it is: no address
  /// outside of quotes has a colon.
  std::string_view without_scheme(std::string_view text) {
    constexpr std::string_view scheme = "mailto:";
    if (!std::ranges::equal(text.substr(0, scheme.size()), scheme, {}, lower)) return text;
    text = text.substr(scheme.size(), text.find('?') - scheme.size());
    unescaped_.clear();
    while (!text.empty()) {
      char byte = text.front();
      const bool escape = byte == '%' && text.size() >= 3 && from_hex(text.substr(1, 2), &byte);
      unescaped_ += escape ? byte : text.front();
      text.remove_prefix(escape ? 3 : 1);
    }
    return unescaped_;
  }

  /// Sets domain_ to the domain, or to an address instead of a name (RFC 5321, 4.1.3): digits,
  /// dots, colons and a tag in brackets.
  result<void> read_domain(std::string_view text) {
    if (text.empty()) return refuse("there is nothing after the @");
    if (text.size() <= 2 || text.front() != '[' || text.back() != ']') {
      return read_domain_name(text, domain_);
    }
    domain_.resize(text.size());
    std::transform(text.begin(), text.end(), domain_.begin(), lower);
    const bool plain = std::all_of(domain_.begin() + 1, domain_.end() - 1, [](char c) {
      return is_digit(c) || (c >= 'a' && c <= 'z') || c == '.' || c == ':' || c == '-';
    });
    return plain ? result<void>() : refuse("the text in brackets is not an address");
  }

  result<void> append_local(std::string_view local) {
    const bool gmail = same_.gmail && (domain_ == "gmail.com" || domain_ == "googlemail.com");
    if (gmail) domain_ = "gmail.com";
    if (local.front() != '"' && (gmail || same_.no_tags)) {
      const auto plus = local.find('+');
      if (plus != 0) local = local.substr(0, plus);
    }
    // A local part of only dots keeps them: without them it would be empty, like all others of only
    // dots.
    const bool dotless = gmail && local.find_first_not_of('.') != std::string_view::npos;
    const bool lowers = gmail || same_.lower;
    while (!local.empty()) {
      const char c = local.front();
      if (!lowers || static_cast<unsigned char>(c) < 0x80) {
        if (!dotless || c != '.') key_ += lowers ? lower(c) : c;
        local.remove_prefix(1);
        continue;
      }
      const std::string_view before = local;
      if (const auto character = take_character(local)) {
        const auto low = letters_.lower(*character);
        if (!low) return fail(low.error());
        append_character(key_, *low);
      } else {
        key_ += before.front();  // not UTF-8
        local = before.substr(1);
      }
    }
    return {};
  }

  same_mailbox same_;
  lower_letters letters_;
  std::string key_;
  std::string local_;
  std::string domain_;
  std::string unescaped_;
};

result<std::unique_ptr<reader>> make(std::string_view argument, purpose) {
  same_mailbox same;
  for (const auto part : std::views::split(argument, ',')) {
    const std::string_view option(part.begin(), part.end());
    if (option == "lower") {
      same.lower = true;
    } else if (option == "no-tags") {
      same.no_tags = true;
    } else if (option == "gmail") {
      same.gmail = true;
    } else {
      return refuse(
          fmt::format("{} is not an option of email; the options are lower, no-tags and gmail",
                      in_quotes(option)));
    }
  }
  return std::make_unique<email>(same);
}

}  // namespace

reader_kind email_reader() noexcept {
  return {.name = "email",
          .argument = "[:lower,no-tags,gmail]",
          .summary =
              "e-mail addresses, plain or as Ann <a@b.de> or mailto:a@b.de, with the domain in "
              "lower case and Punycode; on request with the local part in lower case, without "
              "+tags, or as Gmail reads it (without dots too, and googlemail.com as gmail.com)",
          .make = make,
          .skips_asked = true};
}

}  // namespace bloomset::keys
