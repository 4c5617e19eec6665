// The half of units.hpp that reads texts. It is apart from the other because plans only write them.

#include <bloomset/plan/units.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

#include "core/format.hpp"

namespace bloomset {
namespace {

constexpr double count_limit = 0x1p63;

struct number_and_rest {
  double value;
  std::string_view rest;
};

// A non-negative decimal number at the front, without sign, inf or nan. Underscores between digits
// are dropped.
std::optional<number_and_rest> leading_number(std::string_view text) {
  std::string digits;
  std::size_t used = 0;
  for (; used < text.size(); ++used) {
    const char c = text[used];
    const bool digit = c >= '0' && c <= '9';
    const bool exponent = (c == 'e' || c == 'E') && !digits.empty() && used + 1 < text.size() &&
                          ((text[used + 1] >= '0' && text[used + 1] <= '9') ||
                           text[used + 1] == '-' || text[used + 1] == '+');
    const bool exponent_sign =
        (c == '-' || c == '+') && !digits.empty() && (digits.back() == 'e' || digits.back() == 'E');
    if (c == '_' && !digits.empty() && digits.back() >= '0' && digits.back() <= '9') continue;
    if (!digit && c != '.' && !exponent && !exponent_sign) break;
    if (c != '+') digits += c;
  }
  const auto value = detail::real_number(digits);
  if (!value || text[used - 1] == '_') return std::nullopt;
  return number_and_rest{*value, text.substr(used)};
}

struct unit {
  std::string_view name;
  double factor;
};

constexpr std::array count_units = {
    unit{"", 1},    unit{"k", 1e3}, unit{"K", 1e3},  unit{"M", 1e6},
    unit{"G", 1e9}, unit{"B", 1e9}, unit{"T", 1e12},
};
constexpr std::array byte_units = {
    unit{"", 1},        unit{"B", 1},        unit{"k", 1e3},     unit{"K", 1e3},
    unit{"kB", 1e3},    unit{"KB", 1e3},     unit{"M", 1e6},     unit{"MB", 1e6},
    unit{"G", 1e9},     unit{"GB", 1e9},     unit{"T", 1e12},    unit{"TB", 1e12},
    unit{"Ki", 0x1p10}, unit{"KiB", 0x1p10}, unit{"Mi", 0x1p20}, unit{"MiB", 0x1p20},
    unit{"Gi", 0x1p30}, unit{"GiB", 0x1p30}, unit{"Ti", 0x1p40}, unit{"TiB", 0x1p40},
};

result<std::uint64_t> parse_whole(std::string_view text, std::span<const unit> units,
                                  std::string_view what, std::string_view examples) {
  const auto refuse = [&](std::string_view why) {
    return detail::format_failure(errc::invalid_argument, "'{}' is not {}: {}; write it as {}",
                                  text, what, why, examples);
  };
  // Plain digits are read as an integer, because a double would round them beyond 2^53.
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos) {
    std::uint64_t whole = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), whole);
    if (read.ec != std::errc{} || whole >> 63 != 0) return refuse("it is too large");
    if (whole == 0) return refuse("it must be at least 1");
    return whole;
  }
  const auto number = leading_number(text);
  if (!number) return refuse("it does not start with a number");
  const auto found = std::find_if(units.begin(), units.end(),
                                  [&](const unit& u) { return u.name == number->rest; });
  if (found == units.end()) return refuse(detail::format_text("'{}' is not a unit", number->rest));
  const double value = number->value * found->factor;
  if (value >= count_limit) return refuse("it is too large");
  const double whole = std::round(value);
  // 1.1e6 and 0.3M are whole numbers, although their products are not whole to the last bit.
  if (std::fabs(value - whole) > 1e-9 * value) return refuse("it is not a whole number");
  if (whole < 1) return refuse("it must be at least 1");
  return static_cast<std::uint64_t>(whole);
}

}  // namespace

result<std::uint64_t> parse_count(std::string_view text) {
  return parse_whole(text, count_units, "a count", "1000, 10M or 1e9");
}

result<std::uint64_t> parse_bytes(std::string_view text) {
  return parse_whole(text, byte_units, "a size", "4096, 120MB or 1GiB");
}

result<double> parse_rate(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    return detail::format_failure(errc::invalid_argument,
                                  "'{}' is not a rate: {}; write it as 1%, 0.01 or 1/1000", text,
                                  why);
  };
  const auto number = leading_number(text);
  if (!number) return refuse("it does not start with a number");
  double rate = number->value;
  if (number->rest == "%") {
    // 0.45% is the number 0.0045, which a division by 100 misses.
    rate = detail::real_number(detail::format_text("{}e-2", rate)).value_or(rate / 100);
  } else if (number->rest.starts_with('/')) {
    const auto divisor = leading_number(number->rest.substr(1));
    if (!divisor || !divisor->rest.empty() || divisor->value == 0) {
      return refuse("there is no number after the '/'");
    }
    rate /= divisor->value;
  } else if (!number->rest.empty()) {
    return refuse(detail::format_text("'{}' is not a unit", number->rest));
  }
  if (!(rate > 0 && rate < 1)) return refuse("it must lie between 0 and 1");
  return rate;
}

}  // namespace bloomset
