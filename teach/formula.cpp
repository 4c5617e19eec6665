#include "teach/formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "teach/text/text.hpp"

namespace bloomset::teach {
namespace {

__extension__ using wide = unsigned __int128;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::uint64_t times_modulo(std::uint64_t a, std::uint64_t b, std::uint64_t m) {
  return static_cast<std::uint64_t>(static_cast<wide>(a) * b % m);
}

std::uint64_t plus_modulo(std::uint64_t a, std::uint64_t b, std::uint64_t m) {
  return static_cast<std::uint64_t>((static_cast<wide>(a) + b) % m);
}

// Knuth, TAOCP 2, 4.6.3: square and multiply.
std::uint64_t power_modulo(std::uint64_t base, std::uint64_t exponent, std::uint64_t m) {
  std::uint64_t product = 1 % m;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) product = times_modulo(product, base, m);
    base = times_modulo(base, base, m);
  }
  return product;
}

// The remainder in [0, m) of a number of either sign.
std::uint64_t floor_modulo(std::int64_t a, std::uint64_t m) {
  if (a >= 0) return static_cast<std::uint64_t>(a) % m;
  const std::uint64_t below = (0 - static_cast<std::uint64_t>(a)) % m;
  return below == 0 ? 0 : m - below;
}

// Whether the power fits. The loop is short: a base beyond 1 overflows within 63 steps.
bool exact_power(std::int64_t base, std::uint64_t exponent, std::int64_t& power) {
  power = 1;
  if (base == 0 || base == 1 || base == -1) {
    if (exponent != 0) power = base == -1 && exponent % 2 == 0 ? 1 : base;
    return true;
  }
  for (; exponent != 0; --exponent) {
    if (__builtin_mul_overflow(power, base, &power)) return false;
  }
  return true;
}

}  // namespace

class formula_parser {
 public:
  explicit formula_parser(std::string_view text) { made_.text_ = text; }

  result<formula> parse() {
    const auto root = sum();
    if (!root) return fail(root.error());
    if (at_ < text().size()) {
      return expected(
          "an operator (+ - * % ^) or the end",
          here() == 'x' || here() == '(' || is_digit(here()) ? "; write * to multiply" : "");
    }
    return std::move(made_);
  }

 private:
  using op = formula::op;
  using node = formula::node;
  using index = result<std::size_t>;

  const std::string& text() const { return made_.text_; }
  char here() const { return text()[at_]; }

  bool next_is(std::string_view any) {
    while (at_ < text().size() && here() == ' ') ++at_;
    return at_ < text().size() && any.find(here()) != std::string_view::npos;
  }

  std::size_t add(const node& made) {
    made_.nodes_.push_back(made);
    return made_.nodes_.size() - 1;
  }

  failure expected(std::string_view what, std::string_view advice = "") const {
    if (at_ == text().size()) {
      return fail(errc::invalid_argument,
                  fmt::format("the formula '{}' ends at column {}, where {} was expected{}",
                              printable(text()), column_of(text(), at_), what, advice));
    }
    return fail(errc::invalid_argument,
                fmt::format("the formula '{}' has '{}' in column {}, where {} was expected{}",
                            printable(text()), printable(character_at(text(), at_)),
                            column_of(text(), at_), what, advice));
  }

  // One level of operators that group to the left.
  template <class Operand>
  index chain(std::string_view operators, Operand operand) {
    index left = (this->*operand)();
    while (left && next_is(operators)) {
      const std::size_t at = at_++;
      const index right = (this->*operand)();
      if (!right) return right;
      left = add({.what = operation(text()[at]), .at = at, .left = *left, .right = *right});
    }
    return left;
  }

  static op operation(char sign) {
    switch (sign) {
      case '+':
        return op::add;
      case '-':
        return op::subtract;
      case '*':
        return op::multiply;
      default:
        return op::modulo;
    }
  }

  index sum() { return chain("+-", &formula_parser::product); }
  index product() { return chain("*%", &formula_parser::with_sign); }

  // Bounds the depth: every nesting passes through here.
  index with_sign() {
    if (depth_ == formula::max_depth) {
      return fail(errc::invalid_argument,
                  fmt::format("the formula '{}' nests deeper than {} levels at column {}; simplify "
                              "it",
                              printable(text()), formula::max_depth, column_of(text(), at_)));
    }
    ++depth_;
    index made = next_is("-") ? negated() : power();
    --depth_;
    return made;
  }

  index negated() {
    const std::size_t at = at_++;
    index operand = with_sign();
    if (!operand) return operand;
    return add({.what = op::negate, .at = at, .left = *operand});
  }

  index power() {
    index base = primary();
    if (!base || !next_is("^")) return base;
    const std::size_t at = at_++;
    index exponent = with_sign();
    if (!exponent) return exponent;
    return add({.what = op::power, .at = at, .left = *base, .right = *exponent});
  }

  index primary() {
    if (next_is("x")) return add({.what = op::x, .at = at_++});
    if (next_is("0123456789")) return number();
    if (!next_is("(")) return expected("x, a number, '-' or '('");
    ++at_;
    index inner = sum();
    if (!inner) return inner;
    if (!next_is(")")) return expected("an operator (+ - * % ^) or ')'");
    ++at_;
    return inner;
  }

  index number() {
    node made{.what = op::number, .at = at_};
    const char* const first = text().data() + at_;
    const auto read = std::from_chars(first, text().data() + text().size(), made.value);
    if (read.ec != std::errc()) {
      return fail(errc::invalid_argument,
                  fmt::format("the formula '{}' has a number in column {} that does not fit 64 "
                              "bits; use at most 9223372036854775807",
                              printable(text()), column_of(text(), at_)));
    }
    at_ += static_cast<std::size_t>(read.ptr - first);
    return add(made);
  }

  formula made_;
  std::size_t at_ = 0;
  unsigned depth_ = 0;
};

result<formula> formula::parse(std::string_view text) {
  if (text.size() > max_length) {
    return fail(errc::invalid_argument,
                fmt::format("the formula that begins with '{}' is {} characters long; at most {} "
                            "are read",
                            printable(text.substr(0, 20)), text.size(), max_length));
  }
  return formula_parser(text).parse();
}

std::string formula::substituted(std::int64_t x) const {
  const std::string number = x < 0 ? fmt::format("({})", x) : fmt::format("{}", x);
  std::string shown;
  for (const char c : text_) shown += c == 'x' ? number : std::string(1, c);
  return shown;
}

result<std::int64_t> formula::value(std::int64_t x) const {
  return exact(nodes_.size() - 1, x);
}

result<std::uint64_t> formula::value_modulo(std::int64_t x, std::uint64_t m) const {
  return reduced(nodes_.size() - 1, x, m);
}

failure formula::wrong(const node& where, std::int64_t x, std::string_view what) const {
  return fail(errc::invalid_argument,
              fmt::format("the formula '{}' has no value for x = {}: {} in column {}", text_, x,
                          what, column_of(text_, where.at)));
}

result<std::uint64_t> formula::modulus(const node& remainder, std::int64_t x) const {
  const auto m = exact(remainder.right, x);
  if (!m) return fail(m.error());
  if (*m == 0) return wrong(remainder, x, "it divides by zero at the %");
  if (*m < 0) {
    return wrong(remainder, x,
                 fmt::format("the modulus is {}, and has to be positive, at the %", *m));
  }
  return static_cast<std::uint64_t>(*m);
}

result<std::uint64_t> formula::exponent(const node& power, std::int64_t x) const {
  const auto e = exact(power.right, x);
  if (!e) return fail(e.error());
  if (*e < 0) {
    return wrong(power, x,
                 fmt::format("the exponent is {}, and must not be negative, at the ^", *e));
  }
  return static_cast<std::uint64_t>(*e);
}

result<std::int64_t> formula::exact(std::size_t index, std::int64_t x) const {
  const node& at = nodes_[index];
  if (at.what == op::number) return at.value;
  if (at.what == op::x) return x;
  if (at.what == op::modulo) {
    const auto m = modulus(at, x);
    if (!m) return fail(m.error());
    const auto v = reduced(at.left, x, *m);
    if (!v) return fail(v.error());
    return static_cast<std::int64_t>(*v);
  }
  auto a = exact(at.left, x);
  if (!a) return a;
  std::int64_t value = 0;
  bool fits = true;
  if (at.what == op::negate) {
    fits = !__builtin_sub_overflow(std::int64_t{0}, *a, &value);
  } else if (at.what == op::power) {
    const auto e = exponent(at, x);
    if (!e) return fail(e.error());
    fits = exact_power(*a, *e, value);
  } else {
    auto b = exact(at.right, x);
    if (!b) return b;
    if (at.what == op::add) {
      fits = !__builtin_add_overflow(*a, *b, &value);
    } else if (at.what == op::subtract) {
      fits = !__builtin_sub_overflow(*a, *b, &value);
    } else {
      fits = !__builtin_mul_overflow(*a, *b, &value);
    }
  }
  if (!fits) {
    return wrong(at, x, fmt::format("the result does not fit 64 bits at the {}", text_[at.at]));
  }
  return value;
}

result<std::uint64_t> formula::reduced(std::size_t index, std::int64_t x, std::uint64_t m) const {
  const node& at = nodes_[index];
  if (at.what == op::number || at.what == op::x || at.what == op::modulo) {
    const auto v = exact(index, x);
    if (!v) return fail(v.error());
    return floor_modulo(*v, m);
  }
  auto a = reduced(at.left, x, m);
  if (!a) return a;
  if (at.what == op::negate) return *a == 0 ? 0 : m - *a;
  if (at.what == op::power) {
    auto e = exponent(at, x);
    if (!e) return e;
    return power_modulo(*a, *e, m);
  }
  auto b = reduced(at.right, x, m);
  if (!b) return b;
  if (at.what == op::add) return plus_modulo(*a, *b, m);
  if (at.what == op::subtract) return plus_modulo(*a, m - *b, m);
  return times_modulo(*a, *b, m);
}

}  // namespace bloomset::teach
