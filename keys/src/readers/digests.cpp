// Readers of digests of lines, for lists of leaked or known content.

#include <algorithm>
#include <optional>

#include "digest.hpp"
#include "letter_case.hpp"
#include "rows.hpp"
#include "text.hpp"

namespace bloomset::keys {
namespace {

class digest_of_line final : public reader {
 public:
  digest_of_line(digest function, std::optional<letter_case> text) noexcept
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

  digest function_;
  std::optional<letter_case> text_;  // of a key in hexadecimal digits
};

result<std::unique_ptr<reader>> make_digests(const char* name, std::string_view argument) {
  std::optional<letter_case> text;
  if (!argument.empty()) {
    const auto which = read_case(argument);
    if (!which) return fail(which.error());
    text = *which;
  }
  auto function = digest::make(name);
  if (!function) return fail(std::move(function.error()));
  return std::make_unique<digest_of_line>(std::move(*function), text);
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

reader_kind md5_reader() noexcept {
  return digest_row(
      "md5", "the MD5 of each line: 16 bytes, or 32 hexadecimal digits in upper or lower case",
      [](std::string_view argument, purpose) { return make_digests("MD5", argument); });
}

reader_kind sha1_reader() noexcept {
  return digest_row(
      "sha1", "the SHA-1 of each line: 20 bytes, or 40 hexadecimal digits in upper or lower case",
      [](std::string_view argument, purpose) { return make_digests("SHA1", argument); });
}

reader_kind sha256_reader() noexcept {
  return digest_row(
      "sha256",
      "the SHA-256 of each line: 32 bytes, or 64 hexadecimal digits in upper or lower case",
      [](std::string_view argument, purpose) { return make_digests("SHA256", argument); });
}

}  // namespace bloomset::keys
