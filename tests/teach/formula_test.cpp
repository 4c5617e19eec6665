// Formulas of bloomset explain have the values of mathematics.

#include "teach/formula.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

namespace {

using bloomset::teach::formula;

std::int64_t value(const std::string& text, std::int64_t x = 0) {
  const auto parsed = formula::parse(text);
  EXPECT_TRUE(parsed) << parsed.error().message;
  const auto v = parsed->value(x);
  EXPECT_TRUE(v) << v.error().message;
  return v.value_or(-1);
}

std::string parse_error(const std::string& text) {
  const auto parsed = formula::parse(text);
  EXPECT_FALSE(parsed) << text;
  return parsed ? "" : parsed.error().message;
}

std::string value_error(const std::string& text, std::int64_t x) {
  const auto parsed = formula::parse(text);
  EXPECT_TRUE(parsed) << parsed.error().message;
  const auto v = parsed->value(x);
  EXPECT_FALSE(v) << text << " = " << v.value_or(0);
  return v ? "" : v.error().message;
}

#define EXPECT_CONTAINS(text, part) \
  EXPECT_NE((text).find(part), std::string::npos) << '"' << (text) << "\" lacks \"" << (part) << '"'

TEST(formula, the_lectures_functions) {
  EXPECT_EQ(value("(x+3)%10", 9), 2);
  EXPECT_EQ(value("(3*x+1)%10", 9), 8);
  EXPECT_EQ(value("(x^2+2)%10", 9), 3);
  EXPECT_EQ(value(" ( x ^ 2 + 2 ) % 10 ", 9), 3);
}

TEST(formula, power_binds_before_sign_before_product_before_sum) {
  EXPECT_EQ(value("1+2*3"), 7);
  EXPECT_EQ(value("x+3%10", 9), 12);
  EXPECT_EQ(value("2*3^2"), 18);
  EXPECT_EQ(value("7%2^2"), 3);
  EXPECT_EQ(value("-2^2"), -4);
  EXPECT_EQ(value("(-2)^2"), 4);
  EXPECT_EQ(value("-x^2", 3), -9);
  EXPECT_EQ(value("2*-3"), -6);
  EXPECT_EQ(value("--3"), 3);
}

TEST(formula, groups_to_the_left_but_powers_to_the_right) {
  EXPECT_EQ(value("10-4-3"), 3);
  EXPECT_EQ(value("100%7*3"), 6);
  EXPECT_EQ(value("3*100%7"), 6);
  EXPECT_EQ(value("100%30%7"), 3);
  EXPECT_EQ(value("2^3^2"), 512);
  EXPECT_EQ(value("(2^3)^2"), 64);
}

TEST(formula, the_remainder_is_never_negative) {
  EXPECT_EQ(value("(x+3)%10", -9), 4);
  EXPECT_EQ(value("-1%10"), 9);
  EXPECT_EQ(value("(0-20)%10"), 0);
  EXPECT_EQ(value("x%10", std::numeric_limits<std::int64_t>::min()), 2);  // 2^63 ends in 8
}

TEST(formula, what_a_remainder_keeps_small_does_not_overflow) {
  EXPECT_EQ(value("(x^2+2)%10", 1'000'000), 2);
  EXPECT_EQ(value("(x^1000+1)%10", 7), 2);            // 7^4 ends in 1
  EXPECT_EQ(value("x^17%3233", 65), 2790);            // RSA's textbook example
  EXPECT_EQ(value("3^(10^18)%(10^9+7)"), 246336683);  // Python: pow(3, 10**18, 10**9 + 7)
  EXPECT_EQ(value("(x*x)%9223372036854775807", std::numeric_limits<std::int64_t>::max() - 1), 1);
}

TEST(formula, powers_of_one_and_none_end) {
  EXPECT_EQ(value("0^0"), 1);
  EXPECT_EQ(value("0^x", 1'000'000'000'000), 0);
  EXPECT_EQ(value("1^x", std::numeric_limits<std::int64_t>::max()), 1);
  EXPECT_EQ(value("(-1)^x", std::numeric_limits<std::int64_t>::max()), -1);
}

TEST(formula, an_overflow_is_a_sentence) {
  for (const char* text : {"x+1", "x*2", "2^63", "0-x-2", "x^2", "5%(x+x)", "2^(x*x)%7"}) {
    EXPECT_CONTAINS(value_error(text, std::numeric_limits<std::int64_t>::max()), "64 bits");
  }
  EXPECT_CONTAINS(value_error("-x", std::numeric_limits<std::int64_t>::min()), "64 bits");
  EXPECT_CONTAINS(parse_error("x+9223372036854775808"), "column 3");
}

TEST(formula, no_remainder_by_zero_and_no_negative_exponent) {
  EXPECT_CONTAINS(value_error("x%0", 4),
                  "the formula 'x%0' has no value for x = 4: it divides by "
                  "zero at the % in column 2");
  EXPECT_CONTAINS(value_error("5%(x-4)", 4), "divides by zero");
  EXPECT_CONTAINS(value_error("5%(x-4)", 1), "the modulus is -3");
  EXPECT_CONTAINS(value_error("2^-x", 1), "the exponent is -1");
}

TEST(formula, an_error_names_the_formula_the_column_and_what_was_expected) {
  EXPECT_EQ(
      parse_error("(x+3"),
      "the formula '(x+3' ends at column 5, where an operator (+ - * % ^) or ')' was expected");
  EXPECT_EQ(parse_error("3x+1"),
            "the formula '3x+1' has 'x' in column 2, where an operator (+ - * % ^) or the end was "
            "expected; write * to multiply");
  EXPECT_EQ(parse_error(""),
            "the formula '' ends at column 1, where x, a number, '-' or '(' was expected");
  EXPECT_CONTAINS(parse_error("x+*2"), "'*' in column 3");
  EXPECT_CONTAINS(parse_error("x/2"), "'/' in column 2");
  EXPECT_CONTAINS(parse_error("(x+3))%10"), "')' in column 6");
  EXPECT_CONTAINS(parse_error("x\xc2\xb2+y"), "'\xc2\xb2' in column 2");  // a superscript two
  EXPECT_CONTAINS(parse_error("\xc3\xa9+x"), "'\xc3\xa9' in column 1");
  EXPECT_CONTAINS(parse_error("x+\x1b[2J"), "\\x1b");  // and no escape sequence reaches a terminal
  EXPECT_CONTAINS(parse_error(std::string("x\0+1", 4)), "\\x00");
}

TEST(formula, nesting_is_bounded) {
  const auto nested = [](std::size_t n, char open) {
    return std::string(n, open) + "x" + (open == '(' ? std::string(n, ')') : "");
  };
  EXPECT_EQ(value(nested(formula::max_depth - 1, '('), 5), 5);
  EXPECT_CONTAINS(parse_error(nested(formula::max_depth, '(')), "nests deeper");
  EXPECT_CONTAINS(parse_error(nested(formula::max_depth, '-')), "nests deeper");
  std::string tower = "x";
  for (unsigned i = 0; i < formula::max_depth; ++i) tower += "^1";
  EXPECT_CONTAINS(parse_error(tower), "nests deeper");
  EXPECT_CONTAINS(parse_error(std::string(1'000'000, '(')), "at most 500");
  std::string chain = "x";  // as deep as the length allows
  while (chain.size() + 2 <= formula::max_length) chain += "+1";
  EXPECT_EQ(value(chain, 0), static_cast<std::int64_t>(chain.size() / 2));
}

TEST(formula, shows_its_working) {
  const auto f = formula::parse("(x^2+2*x)%10");
  ASSERT_TRUE(f);
  EXPECT_EQ(f->substituted(4), "(4^2+2*4)%10");
  EXPECT_EQ(f->substituted(-4), "((-4)^2+2*(-4))%10");
}

// A second evaluation, over trees and in 128 bits, that knows neither text nor remainders.
__extension__ using wide = __int128;

struct tree;
using subtree = std::shared_ptr<const tree>;
struct tree {
  char what;  // n, x, or the operator; ~ is the sign
  std::int64_t number = 0;
  subtree left, right;
};

rc::Gen<subtree> trees(int depth) {
  const auto leaf = rc::gen::map(
      rc::gen::tuple(rc::gen::arbitrary<bool>(), rc::gen::inRange<std::int64_t>(0, 13)),
      [](auto t) {
        return subtree(new tree{std::get<0>(t) ? 'x' : 'n', std::get<1>(t), nullptr, nullptr});
      });
  if (depth == 0) return leaf;
  const auto inner = rc::gen::map(
      rc::gen::tuple(rc::gen::element('+', '-', '*', '%', '^', '~'), trees(depth - 1),
                     trees(depth - 1), rc::gen::inRange<std::int64_t>(0, 4)),
      [](auto t) {
        const char what = std::get<0>(t);
        // Small exponents, so that the reference has values to compare.
        const subtree exponent(new tree{'n', std::get<3>(t), nullptr, nullptr});
        return subtree(new tree{what, 0, std::get<1>(t), what == '^' ? exponent : std::get<2>(t)});
      });
  return rc::gen::weightedOneOf<subtree>({{1, leaf}, {4, inner}});
}

// As text with no more parentheses than the levels of the grammar ask for.
std::string text_of(const subtree& t, int level) {
  const auto in = [&](int own, const std::string& text) {
    return own < level ? fmt::format("({})", text) : text;
  };
  switch (t->what) {
    case 'n':
      return fmt::format("{}", t->number);
    case 'x':
      return "x";
    case '~':
      return in(3, fmt::format("-{}", text_of(t->left, 3)));
    case '^':
      return in(4, fmt::format("{}^{}", text_of(t->left, 5), text_of(t->right, 3)));
    case '+':
    case '-':
      return in(1, fmt::format("{}{}{}", text_of(t->left, 1), t->what, text_of(t->right, 2)));
    default:
      return in(2, fmt::format("{}{}{}", text_of(t->left, 2), t->what, text_of(t->right, 3)));
  }
}

enum class trouble { none, undefined, too_large };

wide floor_modulo(wide a, wide m) {
  return ((a % m) + m) % m;
}

wide reference(const subtree& t, std::int64_t x, trouble& trouble_met) {
  if (t->what == 'n') return t->number;
  if (t->what == 'x') return x;
  const wide a = reference(t->left, x, trouble_met);
  if (trouble_met != trouble::none) return 0;
  const wide b = t->what == '~' ? 0 : reference(t->right, x, trouble_met);
  if (trouble_met != trouble::none) return 0;
  wide v = 0;
  bool large = false;
  switch (t->what) {
    case '~':
      v = -a;
      break;
    case '+':
      large = __builtin_add_overflow(a, b, &v);
      break;
    case '-':
      large = __builtin_sub_overflow(a, b, &v);
      break;
    case '*':
      large = __builtin_mul_overflow(a, b, &v);
      break;
    case '^':
      v = 1;
      for (wide i = 0; i < b; ++i) large = large || __builtin_mul_overflow(v, a, &v);
      break;
    default:
      if (b <= 0) {
        trouble_met = trouble::undefined;
        return 0;
      }
      v = floor_modulo(a, b);
  }
  if (large) trouble_met = trouble::too_large;
  return v;
}

bool fits(wide v) {
  return v >= std::numeric_limits<std::int64_t>::min() &&
         v <= std::numeric_limits<std::int64_t>::max();
}

RC_GTEST_PROP(formula, has_the_value_of_its_tree, ()) {
  const auto t = *trees(4);
  const auto x = *rc::gen::inRange<std::int64_t>(-40, 40);
  const auto m = *rc::gen::inRange<std::uint64_t>(1, 1000);
  const std::string text = text_of(t, 0);
  RC_PRE(text.size() <= formula::max_length);
  const auto parsed = formula::parse(text);
  RC_ASSERT(parsed.has_value());
  trouble met = trouble::none;
  const wide expected = reference(t, x, met);
  RC_PRE(met != trouble::too_large);
  const auto exact = parsed->value(x);
  const auto reduced = parsed->value_modulo(x, m);
  if (met == trouble::undefined) {
    RC_ASSERT_FALSE(exact.has_value());
    RC_ASSERT_FALSE(reduced.has_value());
    return;
  }
  if (exact) RC_ASSERT(static_cast<wide>(*exact) == expected);
  // Only a part that stands left of no % may have been too large, in a modulus or by itself.
  if (!exact) RC_ASSERT(exact.error().message.find("64 bits") != std::string::npos);
  if (reduced) {
    RC_ASSERT(static_cast<wide>(*reduced) == floor_modulo(expected, static_cast<wide>(m)));
  }
  if (text.find_first_of("%^*") == std::string::npos) RC_ASSERT(exact && reduced && fits(expected));
}

}  // namespace
