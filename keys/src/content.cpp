#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/keys/content.hpp>
#include <optional>
#include <utility>

#include "digest.hpp"
#include "letter_case.hpp"
#include "text.hpp"

namespace bloomset::keys {
namespace {

class content_of_digest final : public content_digest {
 public:
  content_of_digest(digest function, std::optional<letter_case> text) noexcept
      : function_(std::move(function)), text_(text), works_(function_.begin()) {}

  void add(std::span<const char> bytes) noexcept override {
    works_ = works_ && function_.add({bytes.data(), bytes.size()});
  }

  result<void> finish(key_list& keys) override {
    std::string bytes(function_.size(), '\0');
    const bool made = works_ && function_.finish(bytes.data());
    works_ = function_.begin();
    if (!made) return fail(errc::unsupported, "libcrypto cannot make the digest of this content");
    if (!text_) {
      keys.add(bytes);
      return {};
    }
    const std::string digits = to_hex(bytes);
    std::ranges::transform(digits, keys.make(digits.size()),
                           *text_ == letter_case::upper ? upper : lower);
    return {};
  }

  std::string shown(std::string_view key) const override {
    return text_ ? std::string(key) : to_hex(key);
  }

 private:
  digest function_;
  std::optional<letter_case> text_;
  bool works_;
};

}  // namespace

result<std::unique_ptr<content_digest>> content_digest::make(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, const char*>, 3> names = {
      {{"md5", "MD5"}, {"sha1", "SHA1"}, {"sha256", "SHA256"}}};
  const std::string_view name = text.substr(0, text.find(':'));
  const auto* const found =
      std::ranges::find(names, name, [](const auto& row) { return row.first; });
  if (found == names.end()) {
    return fail(
        errc::invalid_argument,
        "this reader does not make a digest of whole contents; write md5, sha1 or sha256, or for "
        "keys that are text one of them with :upper or :lower");
  }
  std::optional<letter_case> letters;
  if (name.size() != text.size()) {
    const auto which = read_case(text.substr(name.size() + 1));
    if (!which)
      return fail(which.error().code,
                  fmt::format("{}: {}", in_quotes(text), which.error().message));
    letters = *which;
  }
  auto function = digest::make(found->second);
  if (!function) return fail(std::move(function.error()));
  return std::make_unique<content_of_digest>(std::move(*function), letters);
}

}  // namespace bloomset::keys
