// Readers of digests of lines, for lists of leaked or known content.

#include "digest.hpp"
#include "rows.hpp"
#include "text.hpp"

namespace bloomset::keys {
namespace {

class digest_of_line final : public reader {
 public:
  explicit digest_of_line(digest function) noexcept : function_(std::move(function)) {}

  std::string shown(std::string_view, std::size_t, std::string_view key) const override {
    return to_hex(key);
  }

 private:
  result<void> read_record(std::string_view record, key_list& keys) override {
    if (record.empty()) return {};
    if (function_(record, keys.make(function_.size()))) return {};
    return fail(errc::unsupported, "libcrypto cannot make the digest of this line");
  }

  digest function_;
};

result<std::unique_ptr<reader>> make(const char* name) {
  auto function = digest::make(name);
  if (!function) return fail(std::move(function.error()));
  return std::make_unique<digest_of_line>(std::move(*function));
}

}  // namespace

reader_kind sha1_reader() noexcept {
  return {.name = "sha1",
          .argument = "",
          .summary = "the SHA-1 of each line, 20 bytes",
          .make = [](std::string_view, purpose) { return make("SHA1"); },
          .raw_digest = true,
          .keeps_cr = true,
          .keeps_mark = true};
}

reader_kind sha256_reader() noexcept {
  return {.name = "sha256",
          .argument = "",
          .summary = "the SHA-256 of each line, 32 bytes",
          .make = [](std::string_view, purpose) { return make("SHA256"); },
          .raw_digest = true,
          .keeps_cr = true,
          .keeps_mark = true};
}

}  // namespace bloomset::keys
