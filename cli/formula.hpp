#pragma once

// A formula in x as course notes write hash functions: (3*x+1)%10.
//
//   sum     = product { ("+" | "-") product }
//   product = signed { ("*" | "%") signed }
//   signed  = "-" signed | power
//   power   = primary [ "^" signed ]           so that 2^3^2 is 2^(3^2), and -x^2 is -(x^2)
//   primary = digits | "x" | "(" sum ")"
//
// Values are whole numbers as in mathematics: a % b lies in [0, b) for negative a too, and what
// stands left of a % is reckoned modulo b, so that (x^1000+1)%10 has its value and does not
// overflow.

#include <bloomery/result.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery::cli {

class formula {
 public:
  static constexpr std::size_t longest = 500;  ///< characters: bounds the depth of evaluation
  static constexpr unsigned deepest = 50;      ///< nested parentheses, powers and signs

  /// Reads a formula. What is wrong comes as one sentence that names formula and column (from 1).
  static result<formula> parse(std::string_view text);

  /// As it was written.
  const std::string& text() const noexcept { return text_; }

  /// As it was written, with the number in the place of x: (2+3)%10.
  std::string with(std::int64_t x) const;

  /// The exact value. Fails where it does not fit 64 bits and no % keeps it small, where a modulus
  /// is not positive, and where an exponent is negative.
  result<std::int64_t> value(std::int64_t x) const;

  /// The value modulo m, in [0, m): fails as value() does, except that it cannot grow too large.
  /// Precondition: m >= 1.
  result<std::uint64_t> value_modulo(std::int64_t x, std::uint64_t m) const;

 private:
  friend class formula_parser;
  enum class op : std::uint8_t { number, x, negate, add, subtract, multiply, modulo, power };
  struct node {
    op what;
    std::size_t at;          ///< offset in the text, for messages
    std::int64_t value = 0;  ///< of a number
    std::size_t left = 0;    ///< operands: indices of nodes; the operand of negate is the left one
    std::size_t right = 0;
  };

  formula() = default;
  tl::unexpected<failure> wrong(const node& where, std::int64_t x, std::string_view what) const;
  result<std::int64_t> exact(std::size_t index, std::int64_t x) const;
  result<std::uint64_t> reduced(std::size_t index, std::int64_t x, std::uint64_t m) const;
  result<std::uint64_t> modulus(const node& remainder, std::int64_t x) const;
  result<std::uint64_t> exponent(const node& power, std::int64_t x) const;

  std::string text_;
  std::vector<node> nodes_;  ///< the root is the last
};

}  // namespace bloomery::cli
