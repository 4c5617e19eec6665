#pragma once

// Sentences from patterns, so that the core needs no library for them.

#include <bloomery/result.hpp>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomery::detail {

/// A value to be put into a pattern. It refers to text and does not copy it.
class format_value {
 public:
  // NOLINTBEGIN(google-explicit-constructor): values are given as they are
  format_value(std::string_view text) : sort_(sort::text), text_(text) {}
  format_value(const char* text) : format_value(std::string_view(text)) {}
  format_value(const std::string& text) : format_value(std::string_view(text)) {}
  template <std::unsigned_integral Integer>
  format_value(Integer value) : sort_(sort::integer), integer_(value) {}
  template <std::signed_integral Integer>
  format_value(Integer value)
      : sort_(sort::integer), is_negative_(value < 0), integer_(magnitude(value)) {}
  format_value(double value) : sort_(sort::real), real_(value) {}
  // NOLINTEND(google-explicit-constructor)

  /// Appends the value, as `spec` says: empty, or as in printf's "#x", "08x", ".3g", ".2e", ".1f".
  /// Real numbers without one have the fewest digits that read back as the same number.
  void append_to(std::string& out, std::string_view spec) const;

 private:
  enum class sort : std::uint8_t { text, integer, real };

  static constexpr std::uint64_t magnitude(std::int64_t value) noexcept {
    return value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  }

  sort sort_;
  bool is_negative_ = false;
  std::string_view text_;
  std::uint64_t integer_ = 0;
  double real_ = 0;
};

std::string format_values(std::string_view pattern, std::span<const format_value> values);

/// The pattern with each {} or {:spec} replaced by the next value.
template <class... Values>
std::string format_text(std::string_view pattern, const Values&... values) {
  const std::initializer_list<format_value> all = {format_value(values)...};
  return format_values(pattern, {all.begin(), all.size()});
}

/// A failure whose sentence is made as by format_text.
template <class... Values>
failure format_failure(errc code, std::string_view pattern, const Values&... values) {
  return fail(code, format_text(pattern, values...));
}

/// A real number and its number of decimals.
std::string format_fixed(double value, int decimals);

/// The texts with a separator between them.
std::string join(std::span<const std::string_view> texts, std::string_view separator);

}  // namespace bloomery::detail

#pragma GCC visibility pop
