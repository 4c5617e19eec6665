#pragma once

// The hash of Windows passwords: MD4 of the text in UTF-16, little-endian.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bloomset::keys {

/// The form of the text before it becomes UTF-16. passwdqc reads every byte as a character of
/// Windows' code page 1252; the code page's five undefined bytes are characters of Latin-1.
enum class ntlm_text : std::uint8_t { utf8, cp1252 };

/// Makes hashes in memory of its own, which is kept from one to the next and erased after each.
class ntlm_hash {
 public:
  explicit ntlm_hash(ntlm_text form) noexcept : form_(form) {}
  ntlm_hash(const ntlm_hash&) = delete;
  ntlm_hash& operator=(const ntlm_hash&) = delete;
  ~ntlm_hash() { erase(); }

  /// None if the text is not UTF-8 and should be.
  std::optional<std::array<char, 16>> operator()(std::string_view text);

 private:
  bool put_utf16(std::string_view text) noexcept;
  void put(char32_t unit) noexcept;
  void erase() noexcept;

  ntlm_text form_;
  std::string units_;
  std::size_t size_ = 0;
};

}  // namespace bloomset::keys
