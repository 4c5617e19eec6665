#pragma once

// How a line of text becomes the bytes that a format hashes. Formats that do not store it must be
// told.

#include <bloomery/dialects/dialect.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace bloomery::dialects {

enum class encoding : std::uint8_t {
  unknown,
  bytes,    ///< as they stand
  utf16le,  ///< UTF-8 to UTF-16, little-endian, without a mark
  int32,    ///< a decimal number as 4 bytes, little-endian, two's complement
  int64,
  float32,  ///< a decimal fraction as binary32, little-endian
  float64,
};

/// Room for a key's bytes where they are not the key itself; used again from key to key.
struct key_bytes {
  std::vector<std::byte> room;
};

class key_form {
 public:
  /// What an unknown form is answered with: the name of the option that tells it, and its values.
  constexpr key_form(encoding how, std::string_view option, std::string_view values) noexcept
      : how_(how), option_(option), values_(values) {}
  /// The key's own bytes, for formats of byte strings.
  constexpr key_form() noexcept : key_form(encoding::bytes, {}, {}) {}

  encoding how() const noexcept { return how_; }

  /// Fails if the form is unknown, naming the option that tells it.
  result<void> known() const;

  /// The bytes, which refer to the key or to `scratch`; none if the key has none in this form.
  std::optional<std::span<const std::byte>> bytes_of(std::string_view key,
                                                     key_bytes& scratch) const;

  /// Why a key has none.
  tl::unexpected<failure> refusal(std::string_view key) const;

 private:
  encoding how_;
  std::string_view option_;
  std::string_view values_;
};

}  // namespace bloomery::dialects
