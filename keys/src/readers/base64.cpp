// Bytes written in base64 (RFC 4648, sections 4 and 5).

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "rows.hpp"
#include "text.hpp"

namespace bloomset::keys {
namespace {

constexpr std::uint8_t no_base64 = 0xff;

/// The values of both alphabets, which differ in the last two.
constexpr auto base64_values = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(no_base64);
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  }
  values['-'] = values['+'];
  values['_'] = values['/'];
  return values;
}();

class base64 final : public reader {
 public:
  std::string shown(std::string_view, std::size_t, std::string_view key) const override {
    return to_hex(key);
  }

 private:
  result<void> read_record(std::string_view record, key_list& keys) override {
    const auto wrong = [record](std::string_view why) -> failure {
      return fail(errc::invalid_argument, fmt::format("{} {}", in_quotes(record), why));
    };
    std::string_view digits = record;
    for (int i = 0; i < 2 && digits.ends_with('='); ++i) digits.remove_suffix(1);
    const bool padded = digits.size() != record.size();
    const auto value = [](char c) { return base64_values[static_cast<unsigned char>(c)]; };
    if (std::ranges::any_of(digits, [value](char c) { return value(c) == no_base64; })) {
      return wrong("has a character of neither alphabet, the standard or the URL-safe one");
    }
    if (digits.empty() || digits.size() % 4 == 1 || (padded && record.size() % 4 != 0)) {
      return wrong("has a number of characters that base64 cannot have; is it cut off?");
    }
    if (digits.find_first_of("+/") != std::string_view::npos &&
        digits.find_first_of("-_") != std::string_view::npos) {
      return wrong("has characters of both alphabets, the standard and the URL-safe one");
    }
    char* to = keys.make(digits.size() * 3 / 4);
    std::uint32_t bits = 0;
    int held = 0;
    for (const char c : digits) {
      bits = bits << 6 | value(c);
      held += 6;
      if (held < 8) continue;
      held -= 8;
      *to++ = static_cast<char>(bits >> held & 0xff);
    }
    // Otherwise several texts would be one key.
    if ((bits & ((1U << held) - 1)) != 0) {
      return wrong("ends in bits that belong to no byte; is its last character damaged?");
    }
    return {};
  }
};

}  // namespace

reader_kind base64_reader() noexcept {
  return {.name = "base64",
          .argument = "",
          .summary =
              "the bytes that each line's base64 represents, in the standard or the URL-safe "
              "alphabet, with or without padding",
          .make = [](std::string_view, purpose) -> result<std::unique_ptr<reader>> {
            return std::make_unique<base64>();
          },
          .gives_bytes = byte_keys::always};
}

}  // namespace bloomset::keys
