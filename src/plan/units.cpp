#include <bloomset/plan/units.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/format.hpp"

namespace bloomset {

std::string format_count(std::uint64_t n) {
  const std::string digits = detail::format_text("{}", n);
  std::string grouped;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) grouped += ',';
    grouped += digits[i];
  }
  return grouped;
}

std::string format_count(std::uint64_t n, std::string_view noun) {
  return detail::format_text("{} {}{}", format_count(n), noun, n == 1 ? "" : "s");
}

std::string format_bytes(std::uint64_t n) {
  constexpr std::array names = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  auto value = static_cast<double>(n);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < names.size()) {
    value /= 1000;
    ++unit;
  }
  if (unit == 0) return detail::format_text("{} B", n);
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return detail::format_text("{} {}", detail::format_fixed(value, decimals), names.at(unit));
}

std::string format_rate(double rate) {
  const double percent = rate * 100;
  if (percent == 0) return "0%";
  if (!std::isfinite(rate)) return detail::format_text("{}", rate);
  if (rate <= 1e-6) return detail::format_text("{:.2e}", rate);
  // The power of ten of the rounded figure: 0.99996 is shown as 1.00, not as 1.000.
  const std::string rounded = detail::format_text("{:.2e}", percent);
  const int power = std::stoi(rounded.substr(rounded.find('e') + 1));
  const int decimals = std::max(0, 2 - power);
  return detail::format_fixed(percent, decimals) + "%";
}

}  // namespace bloomset
