#pragma once

// Common parts of readers: hexadecimal digits, and records in error sentences.

#include <bloomset/result.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bloomset::keys {

/// Writes the bytes that the digits give, two digits each, to `bytes`. Returns false if one is not
/// a digit. Precondition: an even number of digits, and room for half as many bytes.
bool from_hex(std::string_view digits, char* bytes) noexcept;

/// Lower-case digits.
std::string to_hex(std::string_view bytes);

/// A record in quotes, for a sentence. A long record is cut to its first bytes.
std::string in_quotes(std::string_view record);

/// A whole number of decimal digits only, at most 2^64 - 1.
std::optional<std::uint64_t> whole_number(std::string_view digits) noexcept;

/// A record without the byte-order mark that some programs write at the beginning of a file. It is
/// part of no key.
inline std::string_view without_mark(std::string_view record) noexcept {
  constexpr std::string_view mark = "\xef\xbb\xbf";  // U+FEFF in UTF-8
  return record.substr(record.starts_with(mark) ? mark.size() : 0);
}

/// The separator of fields that a text names: a character of ASCII, \t, or \x and two hexadecimal
/// digits. Nothing for other texts.
std::optional<char> separator_of(std::string_view text) noexcept;

/// The white space of ASCII.
inline constexpr std::string_view spaces = " \t\r\n\v\f";

/// A record without white space at its ends.
inline std::string_view trimmed(std::string_view record) noexcept {
  const auto first = record.find_first_not_of(spaces);
  if (first == std::string_view::npos) return {};
  return record.substr(first, record.find_last_not_of(spaces) - first + 1);
}

constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

/// Changes ASCII letters only.
constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Changes ASCII letters only.
constexpr char upper(char c) noexcept {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

/// The value of a hexadecimal digit of either case; -1 for others.
inline int hex_value(char c) noexcept {
  const char low = lower(c);
  return is_digit(c) ? c - '0' : low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}
inline bool is_hex_digit(char c) noexcept {
  return hex_value(c) >= 0;
}

}  // namespace bloomset::keys
