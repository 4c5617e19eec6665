// URLs as one key each, and URLs by the expressions under which lists of harmful sites name them.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/keys/url.hpp>
#include <optional>

#include "digest.hpp"
#include "rows.hpp"
#include "text.hpp"

namespace bloomset::keys {
namespace {

class url final : public reader {
  result<void> read_record(std::string_view record, key_list& keys) override {
    record = without_mark(record);
    if (record.empty()) return {};
    const auto canonical = canonicalise(record);
    if (!canonical) return fail(canonical.error());
    keys.add(canonical->text());
    return {};
  }
};

constexpr std::size_t sha256_bytes = 32;
constexpr std::size_t listed_bytes = 4;  // of a hash, in the published lists

/// The first bytes of the SHA-256 of expressions. An insert has one expression, or its hash. A
/// query tries all expressions of a URL. The published lists have four bytes per hash. A list of n
/// such prefixes matches an unlisted expression with probability n / 2^32.
class safe_browsing final : public reader {
 public:
  safe_browsing(digest function, std::size_t bytes, purpose why) noexcept
      : function_(std::move(function)), bytes_(bytes), why_(why) {}

  std::string shown(std::string_view record, std::size_t number,
                    std::string_view key) const override {
    record = trimmed(without_mark(record));
    if (why_ == purpose::insert && hash_digits(record)) return to_hex(key);
    const auto canonical = canonicalise(record);
    // An insert has one key, the exact expression, which is the first of all.
    return canonical ? std::string(url_expressions(*canonical)[number]) : to_hex(key);
  }

 private:
  result<void> read_record(std::string_view record, key_list& keys) override {
    record = trimmed(without_mark(record));
    if (record.empty()) return {};
    if (why_ == purpose::insert) {
      if (const auto digits = hash_digits(record)) return read_hash(*digits, keys);
    }
    const auto canonical = canonicalise(record);
    if (!canonical) return fail(canonical.error());
    if (why_ == purpose::insert) return add(canonical->expression(), keys);
    for (const std::string_view expression : url_expressions(*canonical)) {
      if (auto ok = add(expression, keys); !ok) return ok;
    }
    return {};
  }

  /// The digits of a line that is meant as a hash or its beginning: those after the mark, or the
  /// whole line if it has enough digits and nothing else. The only hosts of this form are names of
  /// a single part. Lists have none of those, and a slash after the host tells them apart.
  static std::optional<std::string_view> hash_digits(std::string_view record) noexcept {
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
      return fail(
          errc::invalid_argument,
          fmt::format("{} is no hash prefix, which has {} to {} hexadecimal digits, an even "
                      "number; if it is a host, write a slash after it",
                      in_quotes(digits), 2 * listed_bytes, 2 * sha256_bytes));
    }
    if (digits.size() / 2 < bytes_) {
      return fail(errc::invalid_argument,
                  fmt::format("{} are {} bytes of a hash, and {} are asked for; write "
                              "safe-browsing:{} here and wherever the filter is asked",
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
  purpose why_;
};

result<std::unique_ptr<reader>> make_urls(std::string_view argument, purpose why) {
  const auto bytes = argument.empty() ? listed_bytes : whole_number(argument).value_or(0);
  if (bytes < listed_bytes || bytes > sha256_bytes) {
    return fail(errc::invalid_argument,
                fmt::format("a key has {} to {} bytes of the hash; write for example "
                            "safe-browsing:32",
                            listed_bytes, sha256_bytes));
  }
  auto function = digest::make("SHA256");
  if (!function) return fail(std::move(function.error()));
  return std::make_unique<safe_browsing>(std::move(*function), bytes, why);
}

}  // namespace

reader_kind url_reader() noexcept {
  return {
      .name = "url",
      .argument = "",
      .summary = "URLs in Safe Browsing's canonical form, so that spellings of one URL are one key",
      .make = [](std::string_view, purpose) -> result<std::unique_ptr<reader>> {
        return std::make_unique<url>();
      }};
}

reader_kind safe_browsing_reader() noexcept {
  return {.name = "safe-browsing",
          .argument = "[:BYTES]",
          .summary =
              "for a list: an expression (host/path), a URL or a hash in hexadecimal "
              "digits; for a question: a URL, of which all expressions are asked; the key is "
              "the first 4 bytes, or BYTES, of the SHA-256",
          .make = make_urls};
}

}  // namespace bloomset::keys
