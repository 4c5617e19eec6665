#include "ntlm.hpp"

#include <openssl/crypto.h>

#include "md4.hpp"
#include "utf8.hpp"

namespace bloomset::keys {
namespace {

constexpr unsigned first_of_windows = 0x80;
/// The characters of the bytes 0x80 to 0x9f.
constexpr std::array<char32_t, 32> windows_1252 = {
    0x20ac, 0x81,   0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x8d,   0x017d, 0x8f,   0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x9d,   0x017e, 0x0178};

}  // namespace

std::optional<std::array<char, 16>> ntlm_hash::operator()(std::string_view text) {
  // A byte becomes at most two. The buffer must not grow later, which would leave copies.
  if (units_.size() < 2 * text.size()) {
    erase();
    units_ = std::string(2 * text.size(), '\0');
  }
  size_ = 0;
  std::optional<std::array<char, 16>> made;
  if (put_utf16(text)) made = md4({units_.data(), size_});
  OPENSSL_cleanse(units_.data(), size_);
  return made;
}

bool ntlm_hash::put_utf16(std::string_view text) noexcept {
  if (form_ == ntlm_text::cp1252) {
    for (const char c : text) {
      const unsigned byte = static_cast<unsigned char>(c);
      const bool is_windows =
          byte >= first_of_windows && byte < first_of_windows + windows_1252.size();
      put(is_windows ? windows_1252[byte - first_of_windows] : byte);
    }
    return true;
  }
  constexpr char32_t supplementary = 0x10000;
  while (!text.empty()) {
    const auto character = take_character(text);
    if (!character) return false;
    if (*character < supplementary) {
      put(*character);
    } else {
      put(0xd800 + ((*character - supplementary) >> 10));
      put(0xdc00 + ((*character - supplementary) & 0x3ff));
    }
  }
  return true;
}

void ntlm_hash::put(char32_t unit) noexcept {
  units_[size_++] = static_cast<char>(unit & 0xff);
  units_[size_++] = static_cast<char>(unit >> 8);
}

void ntlm_hash::erase() noexcept {
  OPENSSL_cleanse(units_.data(), units_.size());
}

}  // namespace bloomset::keys
