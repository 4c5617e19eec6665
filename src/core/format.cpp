#include "core/format_value.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <version>

#if !defined(__cpp_lib_to_chars)
#include <cerrno>
#include <cstdlib>
#endif

namespace bloomset::detail {
namespace {

// Enough for a double of any size with a few decimals.
constexpr std::size_t max_digits = 400;

template <class... How>
std::string text_of(double value, std::chars_format form, How... precision) {
  std::array<char, max_digits> digits;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  char* const end =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, form, precision...).ptr;
  return {digits.data(), end};
}

void append(std::string& out, std::string_view text, std::string_view /*spec*/) {
  out += text;
}

void append(std::string& out, std::int64_t number, std::string_view /*spec*/) {
  out += std::to_string(number);
}

void append(std::string& out, std::uint64_t number, std::string_view spec) {
  std::array<char, 20> digits;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number,
                                        spec.ends_with('x') ? 16 : 10)
                              .ptr;
  const auto size = static_cast<std::size_t>(end - digits.data());
  if (spec.starts_with('#')) out += "0x";
  if (spec.starts_with("016")) out.append(16 - size, '0');
  out.append(digits.data(), size);
}

void append(std::string& out, double number, std::string_view spec) {
  if (spec.empty()) {
    const double size = std::fabs(number);
    const bool is_plain = size == 0 || (size >= 1e-4 && size < 1e16) || !std::isfinite(number);
    out += text_of(number, is_plain ? std::chars_format::fixed : std::chars_format::scientific);
    return;
  }
  const auto form = spec.ends_with('e')   ? std::chars_format::scientific
                    : spec.ends_with('f') ? std::chars_format::fixed
                                          : std::chars_format::general;
  out += text_of(number, form, spec[1] - '0');
}

}  // namespace

void append_value(std::string& out, const format_value& value, std::string_view spec) {
  std::visit([&](auto each) { append(out, each, spec); }, value);
}

std::string format_fixed(double value, int decimals) {
  return text_of(value, std::chars_format::fixed, decimals);
}

std::optional<double> real_number(std::string_view text) {
  double value = 0;
#if defined(__cpp_lib_to_chars)
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
#else
  // libc++ reads real numbers from version 20 on; older versions use strtod. Texts that only strtod
  // reads are refused first. This branch is for WebAssembly, which has no locale except "C".
  if (text.empty() || text.front() == '+' ||
      text.find_first_not_of("0123456789.eE+-") != std::string_view::npos) {
    return std::nullopt;
  }
  const std::string all(text);
  char* end = nullptr;
  errno = 0;
  value = std::strtod(all.c_str(), &end);
  if (errno == ERANGE || end != all.c_str() + all.size()) return std::nullopt;
#endif
  return value;
}

}  // namespace bloomset::detail
