#pragma once

// A formula in x as course notes write hash functions: (3*x+1)%10.
//
//   sum     = product { ("+" | "-") product }
//   product = signed { ("*" | "%") signed }
//   signed  = "-" signed | power
//   power   = primary [ "^" signed ]           so that 2^3^2 is 2^(3^2), and -x^2 is -(x^2)
//   primary = digits | "x" | "(" sum ")"
//
// Values are integers. a % b is in [0, b), also for negative a. The left side of a % is computed
// modulo b, so (x^1000+1)%10 does not overflow.

#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bloomset::teach {

class formula {
 public:
  static constexpr std::size_t max_length = 500;  ///< in characters: bounds the depth of evaluation
  static constexpr unsigned max_depth = 50;       ///< of nested parentheses, powers and signs

  /// Fails with one sentence that names the formula and the column (from 1).
  static result<formula> parse(std::string_view text);

  /// The formula as given to parse().
  const std::string& text() const noexcept { return text_; }

  /// The text with the number in place of x: (2+3)%10.
  std::string substituted(std::int64_t x) const;

  /// The exact value. Fails if a value outside of any % does not fit 64 bits, a modulus is not
  /// positive, or an exponent is negative.
  result<std::int64_t> value(std::int64_t x) const;

  /// The value modulo m, in [0, m). Fails as value() does, except that no value is too large.
  /// Precondition: m >= 1.
  result<std::uint64_t> value_modulo(std::int64_t x, std::uint64_t m) const;

 private:
  friend class formula_parser;
  enum class op : std::uint8_t { number, x, negate, add, subtract, multiply, modulo, power };
  struct node {
    op what;
    std::size_t at;          ///< offset in the text, for messages
    std::int64_t value = 0;  ///< of a number
    std::size_t left = 0;    ///< index of the left operand; negate has only this one
    std::size_t right = 0;
  };

  formula() = default;
  failure wrong(const node& where, std::int64_t x, std::string_view what) const;
  result<std::int64_t> exact(std::size_t index, std::int64_t x) const;
  result<std::uint64_t> reduced(std::size_t index, std::int64_t x, std::uint64_t m) const;
  result<std::uint64_t> modulus(const node& remainder, std::int64_t x) const;
  result<std::uint64_t> exponent(const node& power, std::int64_t x) const;

  std::string text_;
  std::vector<node> nodes_;  ///< the last one is the root
};

}  // namespace bloomset::teach
