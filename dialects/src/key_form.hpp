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
  uint32,  ///< the same without a sign
  uint64,
  float32,  ///< a decimal fraction as binary32, little-endian
  float64,
  date,       ///< YYYY-MM-DD, or the days since 1970, as int32
  decimal32,  ///< a decimal fraction times 10^scale, as int32
  decimal64,
  uuid,  ///< in its text form, as 16 bytes
};

/// An encoding and what it needs to know.
struct value_form {
  encoding how = encoding::unknown;
  std::uint32_t scale = 0;  ///< of decimals: places after the point
  std::uint32_t size = 0;   ///< of bytes: how many each value has; 0 is any number

  bool operator==(const value_form&) const = default;
};

/// What a key of that encoding is, as a sentence says it: "a whole number of 32 bits".
std::string_view name_of(encoding how) noexcept;

/// Room for a key's bytes where they are not the key itself; used again from key to key.
struct key_bytes {
  std::vector<std::byte> room;
};

class key_form {
 public:
  /// What an unknown form is answered with: the name of the option that tells it, and its values.
  constexpr key_form(value_form how, std::string_view option, std::string_view values) noexcept
      : how_(how), option_(option), values_(values) {}
  constexpr key_form(encoding how, std::string_view option, std::string_view values) noexcept
      : key_form(value_form{.how = how}, option, values) {}
  /// The key's own bytes, for formats of byte strings.
  constexpr key_form() noexcept : key_form(encoding::bytes, {}, {}) {}

  /// Fails if the form is unknown, naming the option that tells it.
  result<void> known() const;

  /// Whether every key has bytes.
  constexpr bool takes_any() const noexcept {
    return how_.how == encoding::bytes && how_.size == 0;
  }

  /// The bytes, which refer to the key or to `scratch`; none if the key has none in this form.
  std::optional<std::span<const std::byte>> bytes_of(std::string_view key,
                                                     key_bytes& scratch) const;

  /// Why a key has none.
  failure refusal(std::string_view key) const;

 private:
  value_form how_;
  std::string_view option_;
  std::string_view values_;
};

}  // namespace bloomery::dialects
