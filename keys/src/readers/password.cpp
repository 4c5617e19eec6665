// Plain passwords, as the hashes that lists of leaked passwords contain.

#include <openssl/crypto.h>

#include <cstring>

#include "digest.hpp"
#include "md4.hpp"
#include "rows.hpp"
#include "text.hpp"
#include "utf8.hpp"

namespace bloomset::keys {
namespace {

/// The password of a record. Refuses a CR at the end, which comes from the file's line ends: with
/// it no password would ever match.
result<std::string_view> password_in(std::string_view record) {
  record = without_mark(record);
  if (!record.ends_with('\r')) return record;
  return fail(errc::invalid_argument,
              "the password ends in a carriage return; give --crlf where lines end in CR LF");
}

class sha1_password final : public reader {
 public:
  explicit sha1_password(digest function) noexcept : function_(std::move(function)) {}

  std::string shown(std::string_view, std::size_t, std::string_view) const override { return {}; }

 private:
  result<void> read_record(std::string_view record, key_list& keys) override {
    const auto password = password_in(record);
    if (!password) return fail(password.error());
    if (password->empty()) return {};
    const bool made = function_(*password, keys.make(function_.size()));
    function_.forget();
    if (made) return {};
    return fail(errc::unsupported, "libcrypto cannot make the SHA-1 of this line");
  }

  digest function_;
};

/// The hash of NTLM: MD4 of the text in UTF-16, little-endian.
class ntlm_password final : public reader {
 public:
  ntlm_password() = default;
  ntlm_password(const ntlm_password&) = delete;
  ntlm_password& operator=(const ntlm_password&) = delete;
  ~ntlm_password() override { forget(); }

  std::string shown(std::string_view, std::size_t, std::string_view) const override { return {}; }

 private:
  result<void> read_record(std::string_view whole, key_list& keys) override {
    const auto password = password_in(whole);
    if (!password) return fail(password.error());
    std::string_view record = *password;
    if (record.empty()) return {};
    // A byte of UTF-8 becomes at most two of UTF-16. The buffer must not grow later, which would
    // leave copies.
    if (text_.size() < 2 * record.size()) {
      forget();
      text_ = std::string(2 * record.size(), '\0');
    }
    std::size_t size = 0;
    const auto put = [&](char32_t unit) {
      text_[size++] = static_cast<char>(unit & 0xff);
      text_[size++] = static_cast<char>(unit >> 8);
    };
    bool utf8 = true;
    while (!record.empty() && utf8) {
      const auto character = take_character(record);
      utf8 = character.has_value();
      if (!utf8) break;
      constexpr char32_t supplementary = 0x10000;
      if (*character < supplementary) {
        put(*character);
      } else {
        put(0xd800 + ((*character - supplementary) >> 10));
        put(0xdc00 + ((*character - supplementary) & 0x3ff));
      }
    }
    if (utf8) {
      const auto hash = md4({text_.data(), size});
      std::memcpy(keys.make(hash.size()), hash.data(), hash.size());
    }
    OPENSSL_cleanse(text_.data(), size);
    if (utf8) return {};
    return fail(errc::invalid_argument, "the password is not UTF-8, which NTLM's hash begins with");
  }

  void forget() noexcept { OPENSSL_cleanse(text_.data(), text_.size()); }

  std::string text_;
};

result<std::unique_ptr<reader>> make_passwords(std::string_view argument, purpose) {
  if (argument == "ntlm") return std::make_unique<ntlm_password>();
  if (!argument.empty()) {
    return fail(errc::invalid_argument,
                "the text after 'password:' is not the name of a hash, and is not shown because it "
                "may be a password; write password for SHA-1, or password:ntlm");
  }
  auto function = digest::make("SHA1");
  if (!function) return fail(std::move(function.error()));
  return std::make_unique<sha1_password>(std::move(*function));
}

}  // namespace

reader_kind password_reader() noexcept {
  return {.name = "password",
          .argument = "[:ntlm]",
          .summary =
              "each line is a password in plain text, read without echo from a terminal and never "
              "shown; the key is its SHA-1, or NTLM's hash, as pwned makes it",
          .make = make_passwords,
          .secret = true,
          .gives_bytes = byte_keys::always};
}

}  // namespace bloomset::keys
