// Plain passwords, as the hashes that lists of leaked passwords contain.

#include <cstring>
#include <optional>

#include "digest.hpp"
#include "md4.hpp"
#include "ntlm.hpp"
#include "rows.hpp"
#include "text.hpp"

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

/// MD4 of the password, or of its text in UTF-16.
class md4_password final : public reader {
 public:
  /// Without a form, MD4 of the bytes.
  explicit md4_password(std::optional<ntlm_text> form) {
    if (form) ntlm_.emplace(*form);
  }

  std::string shown(std::string_view, std::size_t, std::string_view) const override { return {}; }

 private:
  result<void> read_record(std::string_view record, key_list& keys) override {
    const auto password = password_in(record);
    if (!password) return fail(password.error());
    if (password->empty()) return {};
    const auto hash = ntlm_ ? (*ntlm_)(*password) : md4(*password);
    if (!hash) {
      return fail(errc::invalid_argument,
                  "the password is not UTF-8, which NTLM's hash begins with");
    }
    std::memcpy(keys.make(hash->size()), hash->data(), hash->size());
    return {};
  }

  std::optional<ntlm_hash> ntlm_;
};

result<std::unique_ptr<reader>> make_passwords(std::string_view argument, purpose) {
  if (argument == "md4") return std::make_unique<md4_password>(std::nullopt);
  if (argument == "ntlm") return std::make_unique<md4_password>(ntlm_text::utf8);
  if (argument == "ntlm-cp1252") return std::make_unique<md4_password>(ntlm_text::cp1252);
  if (!argument.empty()) {
    return fail(errc::invalid_argument,
                "the text after 'password:' is not the name of a hash, and is not shown because it "
                "may be a password; write password for SHA-1, or password:ntlm, password:md4 or "
                "password:ntlm-cp1252");
  }
  auto function = digest::make("SHA1");
  if (!function) return fail(std::move(function.error()));
  return std::make_unique<sha1_password>(std::move(*function));
}

}  // namespace

reader_kind password_reader() noexcept {
  return {.name = "password",
          .argument = "[:ntlm|md4|ntlm-cp1252]",
          .summary =
              "each line is a password in plain text, read without echo from a terminal and never "
              "shown; the key is its SHA-1, or with an argument another hash of it: ntlm for NTLM "
              "lists of Pwned Passwords, md4 and ntlm-cp1252 for filters of passwdqc",
          .make = make_passwords,
          .secret = true,
          .gives_bytes = byte_keys::always};
}

}  // namespace bloomset::keys
