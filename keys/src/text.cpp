#include "text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>

namespace bloomset::keys {
namespace {

constexpr std::uint8_t no_digit = 0xff;

constexpr auto digit_values = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(no_digit);
  for (std::uint8_t i = 0; i < 10; ++i) values[std::size_t{'0'} + i] = i;
  for (std::uint8_t i = 0; i < 6; ++i) {
    values[std::size_t{'a'} + i] = values[std::size_t{'A'} + i] = static_cast<std::uint8_t>(10 + i);
  }
  return values;
}();

/// A word of eight equal bytes.
constexpr std::uint64_t each(std::uint64_t byte) noexcept {
  return byte * 0x0101010101010101;
}

/// Converts eight digits at once to four bytes, the lowest first, for lists of a billion hashes.
/// Sets `wrong` to a value other than 0 if one is not a digit.
std::uint32_t from_eight(const char* digits, std::uint64_t& wrong) noexcept {
  std::uint64_t x = 0;  // one load, the lowest byte first
  for (unsigned i = 0; i < 8; ++i)
    x |= std::uint64_t{static_cast<unsigned char>(digits[i])} << (8 * i);
  // Digits are 0x30 to 0x39, letters 0x41 to 0x46 and 0x61 to 0x66. Bit 6 is set only in letters,
  // whose values are 9 higher.
  const std::uint64_t letter = (x >> 6) & each(1);
  const std::uint64_t value = (x & each(0x0f)) + letter * 9;
  const std::uint64_t above_nine = ((value + each(6)) >> 4) & each(1);
  wrong |= x & each(0x80);
  wrong |= ~((x >> 4) ^ (x >> 6)) & each(1);  // exactly one of bits 4 and 6
  wrong |= ~((x >> 5) | (x >> 6)) & each(1);  // and bit 5 unless it is a letter
  wrong |= above_nine ^ letter;
  wrong |= value & each(0xf0);
  std::uint64_t pairs = ((value << 4) | (value >> 8)) & 0x00ff00ff00ff00ff;
  pairs = (pairs | (pairs >> 8)) & 0x0000ffff0000ffff;
  return static_cast<std::uint32_t>(pairs | (pairs >> 16));
}

constexpr std::size_t longest_quoted = 60;

}  // namespace

bool from_hex(std::string_view digits, char* bytes) noexcept {
  const std::size_t eights = digits.size() / 8;
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < eights; ++i) {
    const std::uint32_t four = from_eight(digits.data() + 8 * i, wrong);
    for (unsigned byte = 0; byte < 4; ++byte)
      *bytes++ = static_cast<char>((four >> (8 * byte)) & 0xff);
  }
  // Values of digits are below 16, so their OR shows whether any was not a digit.
  unsigned seen = 0;
  for (std::size_t i = 8 * eights; i + 1 < digits.size(); i += 2) {
    const unsigned upper = digit_values[static_cast<unsigned char>(digits[i])];
    const unsigned low = digit_values[static_cast<unsigned char>(digits[i + 1])];
    seen |= upper | low;
    *bytes++ = static_cast<char>((upper << 4) | (low & 15));
  }
  return wrong == 0 && seen < 16;
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::string in_quotes(std::string_view record) {
  if (record.size() <= longest_quoted) return fmt::format("'{}'", record);
  return fmt::format("'{}...' ({} bytes)", record.substr(0, longest_quoted), record.size());
}

std::optional<std::uint64_t> whole_number(std::string_view digits) noexcept {
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return value;
}

std::optional<char> separator_of(std::string_view text) noexcept {
  if (text == "\\t") return '\t';
  if (text.size() == 4 && text.starts_with("\\x") && is_hex_digit(text[2]) &&
      is_hex_digit(text[3])) {
    return static_cast<char>(hex_value(text[2]) * 16 + hex_value(text[3]));
  }
  if (text.size() == 1 && static_cast<unsigned char>(text.front()) < 0x80) return text.front();
  return std::nullopt;
}

}  // namespace bloomset::keys
