#include "key_form.hpp"

#include <fmt/format.h>

#include <charconv>

#include "options.hpp"

namespace bloomery::dialects {
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

/// The code point at the front of well-formed UTF-8 (RFC 3629), which is taken away; none if it is
/// malformed.
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

}  // namespace

result<void> key_form::known() const {
  if (how_ != encoding::unknown) return {};
  return fail(errc::invalid_argument,
              fmt::format("the format does not tell how a key becomes bytes, and a wrong guess "
                          "would miss every key; give {}={}",
                          option_, values_));
}

std::optional<std::span<const std::byte>> key_form::bytes_of(std::string_view key,
                                                             key_bytes& scratch) const {
  if (how_ == encoding::bytes) return std::as_bytes(std::span(key));
  scratch.room.clear();
  bool made = false;
  switch (how_) {
    case encoding::utf16le:
      made = put_utf16(key, scratch.room);
      break;
    case encoding::int32:
      made = put_number<std::int32_t>(key, scratch.room);
      break;
    case encoding::int64:
      made = put_number<std::int64_t>(key, scratch.room);
      break;
    case encoding::float32:
      made = put_number<float>(key, scratch.room);
      break;
    case encoding::float64:
      made = put_number<double>(key, scratch.room);
      break;
    case encoding::bytes:
    case encoding::unknown:
      break;
  }
  if (!made) return std::nullopt;
  return std::span<const std::byte>(scratch.room);
}

tl::unexpected<failure> key_form::refusal(std::string_view key) const {
  const std::string_view wanted = how_ == encoding::utf16le   ? "text in UTF-8"
                                  : how_ == encoding::int32   ? "a whole number of 32 bits"
                                  : how_ == encoding::int64   ? "a whole number of 64 bits"
                                  : how_ == encoding::unknown ? "of a known form"
                                                              : "a number";
  constexpr std::size_t shown = 60;
  return fail(errc::invalid_argument,
              fmt::format("'{}{}' is not {}, which the filter's keys are", key.substr(0, shown),
                          key.size() > shown ? "..." : "", wanted));
}

}  // namespace bloomery::dialects
