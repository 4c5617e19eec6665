#include "text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>

namespace bloomery::keys {
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

constexpr std::size_t longest_quoted = 60;

}  // namespace

bool from_hex(std::string_view digits, char* bytes) noexcept {
  // Digits have values below 16, so that their OR shows whether one was none.
  unsigned seen = 0;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    const unsigned upper = digit_values[static_cast<unsigned char>(digits[i])];
    const unsigned low = digit_values[static_cast<unsigned char>(digits[i + 1])];
    seen |= upper | low;
    *bytes++ = static_cast<char>((upper << 4) | (low & 15));
  }
  return seen < 16;
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

std::vector<std::string_view> split_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) parts.emplace_back();
  }
  return parts;
}

}  // namespace bloomery::keys
