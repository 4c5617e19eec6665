// Readers of digests of lines, for lists of leaked or known content.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "digest.hpp"
#include "letter_case.hpp"
#include "md4.hpp"
#include "ntlm.hpp"
#include "rows.hpp"
#include "text.hpp"

namespace bloomset::keys {
namespace {

/// The digest of each line. The function writes size() bytes, or returns false.
template <class Function>
class digest_of_line final : public reader {
 public:
  digest_of_line(Function function, std::optional<letter_case> text) noexcept
      : function_(std::move(function)), text_(text) {}

  std::string shown(std::string_view, std::size_t, std::string_view key) const override {
    return text_ ? std::string(key) : to_hex(key);
  }

 private:
  result<void> read_record(std::string_view record, key_list& keys) override {
    if (!text_) return make_digest(record, keys.make(function_.size()));
    std::string bytes(function_.size(), '\0');
    if (auto ok = make_digest(record, bytes.data()); !ok) return ok;
    const std::string digits = to_hex(bytes);
    std::ranges::transform(digits, keys.make(digits.size()),
                           *text_ == letter_case::upper ? upper : lower);
    return {};
  }

  result<void> make_digest(std::string_view record, char* into) {
    if (function_(record, into)) return {};
    return fail(errc::unsupported, "libcrypto cannot make the digest of this line");
  }

  Function function_;
  std::optional<letter_case> text_;  // of a key in hexadecimal digits
};

/// MD4, which libcrypto seldom has.
struct md4_function {
  static constexpr std::size_t size() noexcept { return 16; }
  bool operator()(std::string_view bytes, char* into) const noexcept {
    const auto hash = md4(bytes);
    std::ranges::copy(hash, into);
    return true;
  }
};

template <class Function>
result<std::unique_ptr<reader>> make_digests(result<Function> function, std::string_view argument) {
  std::optional<letter_case> text;
  if (!argument.empty()) {
    const auto which = read_case(argument);
    if (!which) return fail(which.error());
    text = *which;
  }
  if (!function) return fail(std::move(function.error()));
  return std::make_unique<digest_of_line<Function>>(std::move(*function), text);
}

class ntlm_of_line final : public reader {
 public:
  explicit ntlm_of_line(ntlm_text form) noexcept : hash_(form) {}

  std::string shown(std::string_view, std::size_t, std::string_view key) const override {
    return to_hex(key);
  }

 private:
  result<void> read_record(std::string_view record, key_list& keys) override {
    const auto hash = hash_(record);
    if (!hash) {
      return fail(errc::invalid_argument,
                  fmt::format("{} is not UTF-8, which NTLM's hash begins with; ntlm:cp1252 reads "
                              "bytes of Windows' code page",
                              in_quotes(record)));
    }
    std::ranges::copy(*hash, keys.make(hash->size()));
    return {};
  }

  ntlm_hash hash_;
};

result<std::unique_ptr<reader>> make_ntlm(std::string_view argument, purpose) {
  if (argument == "cp1252") return std::make_unique<ntlm_of_line>(ntlm_text::cp1252);
  if (argument.empty()) return std::make_unique<ntlm_of_line>(ntlm_text::utf8);
  return fail(errc::invalid_argument,
              "the argument is not a form of text; write ntlm for UTF-8, or ntlm:cp1252");
}

reader_kind digest_row(std::string_view name, std::string_view summary,
                       result<std::unique_ptr<reader>> (*make)(std::string_view, purpose)) {
  return {.name = name,
          .argument = "[:upper|lower]",
          .summary = summary,
          .make = make,
          .gives_bytes = byte_keys::without_argument,
          .keeps_cr = true,
          .keeps_mark = true};
}

}  // namespace

reader_kind md4_reader() noexcept {
  return digest_row(
      "md4", "the MD4 of each line: 16 bytes, or 32 hexadecimal digits in upper or lower case",
      [](std::string_view argument, purpose) {
        return make_digests<md4_function>(md4_function(), argument);
      });
}

reader_kind ntlm_reader() noexcept {
  return {.name = "ntlm",
          .argument = "[:cp1252]",
          .summary =
              "the hash of Windows passwords: each line is read as UTF-8 (or, as passwdqc does, as "
              "Windows' code page 1252), converted to UTF-16, and hashed with MD4",
          .make = make_ntlm,
          .gives_bytes = byte_keys::always,
          .keeps_cr = true,
          .keeps_mark = true};
}

reader_kind md5_reader() noexcept {
  return digest_row(
      "md5", "the MD5 of each line: 16 bytes, or 32 hexadecimal digits in upper or lower case",
      [](std::string_view argument, purpose) {
        return make_digests(digest::make("MD5"), argument);
      });
}

reader_kind sha1_reader() noexcept {
  return digest_row(
      "sha1", "the SHA-1 of each line: 20 bytes, or 40 hexadecimal digits in upper or lower case",
      [](std::string_view argument, purpose) {
        return make_digests(digest::make("SHA1"), argument);
      });
}

reader_kind sha256_reader() noexcept {
  return digest_row(
      "sha256",
      "the SHA-256 of each line: 32 bytes, or 64 hexadecimal digits in upper or lower case",
      [](std::string_view argument, purpose) {
        return make_digests(digest::make("SHA256"), argument);
      });
}

}  // namespace bloomset::keys
