// What the small modules have in place of large parts of the library.
//
// core/format.cpp: real numbers have six significant digits, because the tables for exact ones are
// larger than the rest of the module. file/unread_formats.cpp: all other files are "not a Bloomset
// filter".

#include <array>
#include <bloomset/unread_formats.hpp>
#include <cmath>
#include <cstddef>
#include <limits>

#include "core/format_value.hpp"

namespace bloomset::detail {
namespace {

void append(std::string& out, std::string_view text, std::string_view /*spec*/) {
  out += text;
}

void append(std::string& out, std::uint64_t number, std::string_view spec) {
  const unsigned base = spec.ends_with('x') ? 16 : 10;
  std::array<char, 20> digits;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::size_t at = digits.size();
  do {
    digits[--at] = "0123456789abcdef"[number % base];
    number /= base;
  } while (number != 0);
  if (spec.starts_with('#')) out += "0x";
  if (spec.starts_with("016")) out.append(at - 4, '0');
  out.append(digits.data() + at, digits.size() - at);
}

void append(std::string& out, std::int64_t number, std::string_view spec) {
  if (number < 0) out += '-';
  const auto bits = static_cast<std::uint64_t>(number);
  append(out, number < 0 ? 0 - bits : bits, spec);
}

void append(std::string& out, double number, std::string_view /*spec*/) {
  if (!std::isfinite(number)) {
    out += std::isnan(number) ? "nan" : number < 0 ? "-inf" : "inf";
    return;
  }
  if (std::signbit(number)) out += '-';
  number = std::fabs(number);
  int exponent = 0;
  for (; number >= 10; number /= 10) ++exponent;
  for (; number != 0 && number < 1; number *= 10) --exponent;
  auto digits = static_cast<std::uint64_t>(number * 1e5 + 0.5);
  if (digits == 1000000) {
    digits /= 10;
    ++exponent;
  }
  append(out, digits / 100000, "");
  std::string decimals = std::to_string(100000 + digits % 100000).substr(1);
  while (!decimals.empty() && decimals.back() == '0') decimals.pop_back();
  if (!decimals.empty()) (out += '.') += decimals;
  if (exponent != 0) (out += 'e') += std::to_string(exponent);
}

}  // namespace

void append_value(std::string& out, const format_value& value, std::string_view spec) {
  std::visit([&](auto each) { append(out, each, spec); }, value);
}

}  // namespace bloomset::detail

namespace bloomset {

const unread_format* recognise_unread(std::span<const std::byte> /*file*/,
                                      std::string_view /*name*/, certainty /*least*/) noexcept {
  return nullptr;
}

failure not_read(const unread_format& /*form*/, const std::string& name) {
  return fail(errc::unsupported, name);
}

}  // namespace bloomset
