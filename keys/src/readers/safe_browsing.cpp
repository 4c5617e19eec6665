// URLs by the expressions under which lists of harmful sites name them.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/keys/url.hpp>
#include <optional>
#include <ranges>

#include "blocklist.hpp"
#include "digest.hpp"
#include "rows.hpp"
#include "text.hpp"

namespace bloomset::keys {
namespace {

constexpr std::size_t sha256_bytes = 32;
constexpr std::size_t listed_bytes = 4;  // of a hash, in the published lists

/// The first bytes of the SHA-256 of expressions. An insert has those of a list's line, or a hash.
/// A query tries all expressions of a URL. The published lists have four bytes per hash. A list of
/// n such prefixes matches an unlisted expression with probability n / 2^32.
class safe_browsing final : public reader {
 public:
  safe_browsing(digest function, std::size_t bytes, list_form form, purpose why) noexcept
      : function_(std::move(function)), bytes_(bytes), form_(form), why_(why) {}

  std::string shown(std::string_view record, std::size_t number,
                    std::string_view key) const override {
    record = trimmed(without_mark(record));
    if (why_ == purpose::ask) {
      const auto canonical = canonicalise(record);
      return canonical ? std::string(url_expressions(*canonical)[number]) : to_hex(key);
    }
    if (hash_digits(record)) return to_hex(key);
    std::vector<std::string> listed;
    return read_list_line(record, form_, listed) ? listed.at(number) : to_hex(key);
  }

 private:
  result<void> read_record(std::string_view record, key_list& keys) override {
    record = trimmed(without_mark(record));
    if (record.empty()) return {};
    if (why_ == purpose::insert) {
      if (const auto digits = hash_digits(record)) return read_hash(*digits, keys);
      if (form_ == list_form::adblock && record.starts_with("@@")) count_exception();
      listed_.clear();
      if (auto ok = read_list_line(record, form_, listed_); !ok) return ok;
      for (const std::string& expression : listed_) {
        if (auto ok = add(expression, keys); !ok) return ok;
      }
      return {};
    }
    const auto canonical = canonicalise(record);
    if (!canonical) return fail(canonical.error());
    for (const std::string_view expression : url_expressions(*canonical)) {
      if (auto ok = add(expression, keys); !ok) return ok;
    }
    return {};
  }

  /// The digits of a line that is meant as a hash or its beginning: those after the mark, or the
  /// whole line if it has enough digits and nothing else. The only hosts of this form are names of
  /// a single part. Lists have none of those, and a slash after the host tells them apart.
  std::optional<std::string_view> hash_digits(std::string_view record) const noexcept {
    if (form_ != list_form::expressions) return std::nullopt;
    constexpr std::string_view mark = "sha256:";
    if (record.starts_with(mark)) return record.substr(mark.size());
    const bool bare =
        record.size() >= 2 * listed_bytes && std::ranges::all_of(record, is_hex_digit);
    return bare ? std::optional(record) : std::nullopt;
  }

  result<void> read_hash(std::string_view digits, key_list& keys) const {
    // A wrong number of digits is a damaged hash, hardly ever a host.
    if (digits.size() % 2 != 0 || digits.size() < 2 * listed_bytes ||
        digits.size() > 2 * sha256_bytes || !std::ranges::all_of(digits, is_hex_digit)) {
      return fail(errc::invalid_argument,
                  fmt::format("{} is not a hash prefix, which has an even number of {} to {} "
                              "hexadecimal digits; if it is a host, write a slash after it",
                              in_quotes(digits), 2 * listed_bytes, 2 * sha256_bytes));
    }
    if (digits.size() / 2 < bytes_) {
      return fail(errc::invalid_argument,
                  fmt::format("{} has {} bytes of a hash, but {} are requested; write "
                              "safe-browsing:{} here and wherever the filter is queried",
                              in_quotes(digits), digits.size() / 2, bytes_, digits.size() / 2));
    }
    (void)from_hex(digits.substr(0, 2 * bytes_), keys.make(bytes_));
    return {};
  }

  result<void> add(std::string_view expression, key_list& keys) {
    std::array<char, sha256_bytes> hash{};
    if (!function_(expression, hash.data())) {
      return fail(errc::unsupported, "libcrypto cannot make the SHA-256 of this URL");
    }
    keys.add({hash.data(), bytes_});
    return {};
  }

  digest function_;
  std::size_t bytes_;
  list_form form_;
  purpose why_;
  std::vector<std::string> listed_;
};

result<std::unique_ptr<reader>> make_safe_browsing(std::string_view argument, purpose why) {
  std::optional<std::size_t> bytes;
  std::optional<list_form> form;
  for (const auto part : std::views::split(argument, ',')) {
    const std::string_view option(part.begin(), part.end());
    const auto number = whole_number(option);
    if (option == "hosts" && !form) {
      form = list_form::hosts;
    } else if (option == "adblock" && !form) {
      form = list_form::adblock;
    } else if (!bytes && number && *number >= listed_bytes && *number <= sha256_bytes) {
      bytes = number;
    } else {
      return fail(errc::invalid_argument,
                  fmt::format("{} is neither a form of lists (hosts or adblock, one of them) nor "
                              "the number of a hash's bytes in a key, from {} to {}; write for "
                              "example safe-browsing:hosts,32",
                              in_quotes(option), listed_bytes, sha256_bytes));
    }
  }
  auto function = digest::make("SHA256");
  if (!function) return fail(std::move(function.error()));
  return std::make_unique<safe_browsing>(std::move(*function), bytes.value_or(listed_bytes),
                                         form.value_or(list_form::expressions), why);
}

}  // namespace

reader_kind safe_browsing_reader() noexcept {
  return {.name = "safe-browsing",
          .argument = "[:hosts|adblock][,BYTES]",
          .summary =
              "for a list: an expression (host/path), a URL or a hash in hexadecimal digits, or a "
              "line of a hosts file or of an ad blocker's list; for a query: a URL, whose "
              "expressions are all queried; the key is the first 4 bytes, or BYTES, of the SHA-256",
          .make = make_safe_browsing};
}

}  // namespace bloomset::keys
