#include "key_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

#include "options.hpp"
#include "parquet/equal_values.hpp"

namespace bloomset::dialects {
namespace {

template <class Number>
bool put_number(std::string_view key, std::vector<std::byte>& to) {
  Number number{};
  const char* const end = key.data() + key.size();
  const auto read = std::from_chars(key.data(), end, number);
  if (read.ec != std::errc{} || read.ptr != end) return false;
  put_little(to, number);
  return true;
}

/// Removes a number of that many digits from the front of a text, and returns it.
std::optional<int> take_digits(std::string_view& text, std::size_t digits) noexcept {
  if (text.size() < digits) return std::nullopt;
  int number = 0;
  for (const char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  text.remove_prefix(digits);
  return number;
}

bool take(std::string_view& text, char c) noexcept {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

bool put_date(std::string_view key, std::vector<std::byte>& to) {
  if (put_number<std::int32_t>(key, to)) return true;
  namespace chrono = std::chrono;
  const auto year = take_digits(key, 4);
  if (!year || !take(key, '-')) return false;
  const auto month = take_digits(key, 2);
  if (!month || !take(key, '-')) return false;
  const auto day = take_digits(key, 2);
  if (!day || !key.empty()) return false;
  const chrono::year_month_day date(chrono::year(*year),
                                    chrono::month(static_cast<unsigned>(*month)),
                                    chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return false;
  const auto days = chrono::sys_days(date).time_since_epoch().count();
  put_little(to, static_cast<std::int32_t>(days));
  return true;
}

/// The nearest binary16; of two as near the even one. False beyond the largest, unless infinite.
bool put_half(double number, std::vector<std::byte>& to) {
  constexpr int fraction = 10;
  constexpr int min_exponent = -14;
  constexpr unsigned infinity = 0x7c00;
  const double magnitude = std::fabs(number);
  unsigned bits = infinity | (std::isnan(number) ? 0x200U : 0U);
  if (std::isfinite(number)) {
    const int exponent =
        magnitude == 0 ? min_exponent : std::max(std::ilogb(magnitude), min_exponent);
    // The leading one of the fraction, and a carry of the rounding, add to the exponent.
    bits = (static_cast<unsigned>(exponent - min_exponent) << fraction) +
           static_cast<unsigned>(std::nearbyint(std::ldexp(magnitude, fraction - exponent)));
    if (bits >= infinity) return false;
  }
  put_little(to, static_cast<std::uint16_t>(bits | (std::signbit(number) ? 0x8000U : 0U)));
  return true;
}

template <class Number>
bool put_float(const value_form& form, std::string_view key, std::vector<std::byte>& to) {
  Number number{};
  const char* const end = key.data() + key.size();
  const auto read = std::from_chars(key.data(), end, number);
  if (read.ec != std::errc{} || read.ptr != end) return false;
  if (form.how == encoding::float16) return put_half(number, to);
  put_little(to, number);
  return true;
}

/// A decimal fraction times 10^scale in two's complement, the most significant byte first. False if
/// that is not whole or needs more bytes than `to` has.
bool put_unscaled(std::string_view key, std::uint32_t scale, std::span<std::byte> to) {
  const bool negative = take(key, '-');
  const auto point = std::min(key.find('.'), key.size());
  const auto whole = key.substr(0, point);
  auto fraction = key.substr(std::min(point + 1, key.size()));
  if (whole.empty() && fraction.empty()) return false;
  while (fraction.size() > scale && fraction.ends_with('0')) fraction.remove_suffix(1);
  if (fraction.size() > scale) return false;
  const auto append = [to](char c) {
    if (c < '0' || c > '9') return false;
    auto carry = static_cast<unsigned>(c - '0');
    for (std::size_t i = to.size(); i-- > 0; carry >>= 8) {
      carry += std::to_integer<unsigned>(to[i]) * 10;
      to[i] = static_cast<std::byte>(carry & 0xff);
    }
    return carry == 0;
  };
  const auto append_all = [&](std::string_view digits) {
    return std::all_of(digits.begin(), digits.end(), append);
  };
  if (!append_all(whole) || !append_all(fraction)) return false;
  for (std::size_t place = fraction.size(); place < scale; ++place) {
    if (!append('0')) return false;
  }
  const auto is_set = [](std::byte b) { return b != std::byte{0}; };
  const bool minus = negative && std::any_of(to.begin(), to.end(), is_set);
  if (minus) {
    unsigned carry = 1;
    for (std::size_t i = to.size(); i-- > 0; carry >>= 8) {
      carry += std::to_integer<unsigned>(~to[i]);
      to[i] = static_cast<std::byte>(carry & 0xff);
    }
  }
  return minus == is_set(to.front() & std::byte{0x80});
}

bool put_decimal(const value_form& form, std::string_view key, std::vector<std::byte>& to) {
  to.resize(form.size);
  if (!put_unscaled(key, form.scale, to)) return false;
  if (form.how == encoding::short_decimal) {
    (void)first_encoding(form, to);
  } else {
    std::reverse(to.begin(), to.end());
  }
  return true;
}

bool put_uuid(std::string_view key, std::vector<std::byte>& to) {
  constexpr std::array<std::size_t, 5> groups = {4, 2, 2, 2, 6};
  for (std::size_t group = 0; group < groups.size(); ++group) {
    if (group != 0 && !take(key, '-')) return false;
    for (std::size_t i = 0; i < groups.at(group); ++i) {
      std::uint8_t byte = 0;
      if (key.size() < 2) return false;
      const char* const end = key.data() + 2;
      const auto read = std::from_chars(key.data(), end, byte, 16);
      if (read.ec != std::errc{} || read.ptr != end) return false;
      to.push_back(static_cast<std::byte>(byte));
      key.remove_prefix(2);
    }
  }
  return key.empty();
}

/// Removes the code point from the front of well-formed UTF-8 (RFC 3629), and returns it. None if
/// the text is malformed.
std::optional<char32_t> take_code_point(std::string_view& text) noexcept {
  const auto lead = static_cast<std::uint8_t>(text.front());
  const std::size_t size = lead < 0x80   ? 1
                           : lead < 0xc2 ? 0
                           : lead < 0xe0 ? 2
                           : lead < 0xf0 ? 3
                           : lead < 0xf5 ? 4
                                         : 0;
  if (size == 0 || size > text.size()) return std::nullopt;
  char32_t point = size == 1 ? lead : lead & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    const auto next = static_cast<std::uint8_t>(text[i]);
    if ((next & 0xc0U) != 0x80U) return std::nullopt;
    point = point << 6 | (next & 0x3fU);
  }
  constexpr std::array<char32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
  if (point < least.at(size) || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) {
    return std::nullopt;
  }
  text.remove_prefix(size);
  return point;
}

bool put_utf16(std::string_view key, std::vector<std::byte>& to) {
  while (!key.empty()) {
    const auto point = take_code_point(key);
    if (!point) return false;
    if (*point < 0x10000) {
      put_little(to, static_cast<std::uint16_t>(*point));
    } else {
      put_little(to, static_cast<std::uint16_t>(0xd800 + ((*point - 0x10000) >> 10)));
      put_little(to, static_cast<std::uint16_t>(0xdc00 + ((*point - 0x10000) & 0x3ff)));
    }
  }
  return true;
}

/// Appends a key's bytes in an encoding that changes them. False if it has none.
bool put_value(const value_form& form, std::string_view key, std::vector<std::byte>& to) {
  switch (form.how) {
    case encoding::utf16le:
      return put_utf16(key, to);
    case encoding::int8:
      return put_number<std::int8_t>(key, to);
    case encoding::int16:
      return put_number<std::int16_t>(key, to);
    case encoding::int32:
      return put_number<std::int32_t>(key, to);
    case encoding::int64:
      return put_number<std::int64_t>(key, to);
    case encoding::uint32:
      return put_number<std::uint32_t>(key, to);
    case encoding::uint64:
      return put_number<std::uint64_t>(key, to);
    case encoding::float32:
      return put_float<float>(form, key, to);
    case encoding::float16:
    case encoding::float64:
      return put_float<double>(form, key, to);
    case encoding::date:
      return put_date(key, to);
    case encoding::decimal:
    case encoding::short_decimal:
      return put_decimal(form, key, to);
    case encoding::uuid:
      return put_uuid(key, to);
    case encoding::bytes:
    case encoding::url:
    case encoding::unknown:
      break;
  }
  return false;
}

}  // namespace

result<void> key_form::known() const {
  if (how_.how != encoding::unknown) return {};
  return fail(errc::invalid_argument,
              fmt::format("the format does not store how a key becomes bytes, and a wrong guess "
                          "would miss every key; give --with {}={}",
                          option_, values_));
}

std::optional<std::span<const std::byte>> key_form::bytes_of(
    std::string_view key, std::vector<std::byte>& scratch) const {
  if (how_.how == encoding::bytes || how_.how == encoding::url) {
    if (how_.size != 0 && key.size() != how_.size) return std::nullopt;
    return std::as_bytes(std::span(key));
  }
  scratch.clear();
  if (!put_value(how_, key, scratch)) return std::nullopt;
  if (how_.big_endian) std::reverse(scratch.begin(), scratch.end());
  return scratch;
}

std::string_view key_form::noun() const noexcept {
  return how_.how == encoding::bytes && how_.size == 0 ? std::string_view() : name_of(how_.how);
}

bool key_form::fits(std::string_view key) const {
  if (how_.how == encoding::url) return key.find("://") != std::string_view::npos;
  std::vector<std::byte> scratch;
  return bytes_of(key, scratch).has_value();
}

std::string_view name_of(encoding how) noexcept {
  switch (how) {
    case encoding::unknown:
      return "of a known form";
    case encoding::bytes:
      return "of the right size";
    case encoding::url:
      return "a URL with its scheme";
    case encoding::utf16le:
      return "text in UTF-8";
    case encoding::int8:
      return "a whole number of 8 bits";
    case encoding::int16:
      return "a whole number of 16 bits";
    case encoding::int32:
      return "a whole number of 32 bits";
    case encoding::int64:
      return "a whole number of 64 bits";
    case encoding::uint32:
      return "a whole number of 32 bits without a sign";
    case encoding::uint64:
      return "a whole number of 64 bits without a sign";
    case encoding::date:
      return "a date, YYYY-MM-DD";
    case encoding::uuid:
      return "a UUID";
    case encoding::float16:
    case encoding::float32:
    case encoding::float64:
    case encoding::decimal:
    case encoding::short_decimal:
      break;
  }
  return "a number";
}

failure key_form::refusal(std::string_view key) const {
  constexpr std::size_t shown = 60;
  return fail(errc::invalid_argument,
              fmt::format("'{}{}' is not {}, which the filter's keys are", key.substr(0, shown),
                          key.size() > shown ? "..." : "", name_of(how_.how)));
}

}  // namespace bloomset::dialects
