#pragma once

// Sentences from patterns, so that the core needs no library for them, and numbers from texts.

#include <bloomset/result.hpp>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomset::detail {

/// A value to be put into a pattern. It refers to text and does not copy it.
using format_value = std::variant<std::string_view, std::uint64_t, std::int64_t, double>;

inline format_value as_value(std::string_view text) noexcept {
  return text;
}
inline format_value as_value(std::unsigned_integral auto number) noexcept {
  return std::uint64_t{number};
}
inline format_value as_value(std::signed_integral auto number) noexcept {
  return std::int64_t{number};
}
inline format_value as_value(double number) noexcept {
  return number;
}

/// The pattern with each {} or {:spec} replaced by the next value.
///
/// A spec is as in printf, for whole numbers without a sign "#x" or "016x", for real numbers
/// ".3g", ".2e" or ".1f". Real numbers without one have the fewest digits that read back as the
/// same number.
std::string format_values(std::string_view pattern, std::span<const format_value> values);

/// The same for values of any of these types.
template <class... Values>
std::string format_text(std::string_view pattern, const Values&... values) {
  const std::initializer_list<format_value> all = {as_value(values)...};
  return format_values(pattern, {all.begin(), all.size()});
}

/// A failure whose sentence is made as by format_text.
template <class... Values>
failure format_failure(errc code, std::string_view pattern, const Values&... values) {
  return fail(code, format_text(pattern, values...));
}

/// A real number and its number of decimals.
std::string format_fixed(double value, int decimals);

/// Reads the whole text as a number, in the form of std::from_chars. Nothing if the text is not a
/// number, or if the number is beyond the range of a double.
std::optional<double> real_number(std::string_view text);

/// The texts with a separator between them.
std::string join(std::span<const std::string_view> texts, std::string_view separator);

}  // namespace bloomset::detail

#pragma GCC visibility pop
