#pragma once

// From a line of text to the bytes that a format hashes. If a format does not store this rule, an
// option must name it.

#include <bloomset/dialects/dialect.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace bloomset::dialects {

enum class encoding : std::uint8_t {
  unknown,
  bytes,    ///< unchanged
  url,      ///< unchanged; keys of another form than a URL's are hardly members
  utf16le,  ///< UTF-8 to UTF-16, little-endian, without a mark
  int8,     ///< a decimal number as 1 byte, little-endian, two's complement
  int16,
  int32,
  int64,
  uint32,  ///< the same without a sign
  uint64,
  float16,  ///< a decimal fraction as binary16, little-endian
  float32,
  float64,
  date,           ///< YYYY-MM-DD, or the days since 1970, as int32
  decimal,        ///< a decimal fraction times 10^scale, as `size` bytes, little-endian
  short_decimal,  ///< the same in as few bytes as it needs, at most `size`
  uuid,           ///< in its text form, as 16 bytes
};

/// An encoding and its parameters.
struct value_form {
  encoding how = encoding::unknown;
  std::uint32_t scale = 0;  ///< of decimals: places after the point
  std::uint32_t size = 0;   ///< of bytes and decimals: the length of each value; 0 is any
  bool big_endian = false;  ///< numbers have their bytes in the other order

  bool operator==(const value_form&) const = default;
};

/// The form of a key in that encoding, for a sentence: "a whole number of 32 bits".
std::string_view name_of(encoding how) noexcept;

class key_form {
 public:
  /// `option` and `values` are for the error if the form is unknown: the option that names the
  /// form, and its values.
  constexpr key_form(value_form how, std::string_view option, std::string_view values) noexcept
      : how_(how), option_(option), values_(values) {}
  constexpr key_form(encoding how, std::string_view option, std::string_view values) noexcept
      : key_form(value_form{.how = how}, option, values) {}
  /// The key's own bytes, for formats of byte strings.
  constexpr key_form() noexcept : key_form(encoding::bytes, {}, {}) {}

  /// Fails if the form is unknown. The error names the option that gives it.
  result<void> known() const;

  /// Whether every key has bytes in this form.
  constexpr bool takes_any() const noexcept {
    return how_.how == encoding::url || (how_.how == encoding::bytes && how_.size == 0);
  }

  /// The form for a sentence: "a whole number of 32 bits". Empty if all keys have it.
  std::string_view noun() const noexcept;
  /// Whether a key has the form of the filter's keys. Others are not members, or hardly.
  bool fits(std::string_view key) const;

  /// The bytes, which refer to the key or to `scratch`, memory that is reused from key to key. None
  /// if the key has no bytes in this form.
  std::optional<std::span<const std::byte>> bytes_of(std::string_view key,
                                                     std::vector<std::byte>& scratch) const;

  /// The reason why a key has no bytes in this form.
  failure refusal(std::string_view key) const;

 private:
  value_form how_;
  std::string_view option_;
  std::string_view values_;
};

}  // namespace bloomset::dialects
