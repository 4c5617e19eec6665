#pragma once

// Common parts of dialects: options by name, requests, and the numbers in headers.

#include <bit>
#include <bloomset/dialects/dialect.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomset::dialects {

/// The value that was given for an option.
std::optional<std::string_view> find_option(const option_list& options, std::string_view name);

/// A whole number in [low, high], or `otherwise` where the option is not given.
result<std::uint64_t> number_option(const option_list& options, std::string_view name,
                                    std::uint64_t low, std::uint64_t high, std::uint64_t otherwise);

/// yes or no. A failure calls the option by its `flag`.
result<bool> flag_option(const option_list& options, std::string_view name, bool otherwise,
                         std::string_view flag = "--with");

/// The fields of a request that a format can use, besides the options.
struct takes {
  bool capacity = true;
  bool fpr = false;
  bool bits = false;
  bool seed = false;
};

/// Refuses values that the format cannot use, and a missing capacity that it needs. `advice` names
/// the values that size the filter instead.
result<void> check_request(const plan_request& request, std::string_view format, takes has,
                           std::string_view advice);

/// The failure for a number of bits that the format cannot hold.
failure too_large(std::string_view format, std::string_view limit);

/// A number at the front of `from`. Precondition: it is there.
static_assert(std::endian::native == std::endian::little, "a big-endian port has to swap");
template <class Number>
Number little_endian(const std::byte* from) noexcept {
  Number number{};
  std::memcpy(&number, from, sizeof number);
  return number;
}
template <class Number>
Number big_endian(const std::byte* from) noexcept {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i) {
    number = static_cast<Number>(number << 8 | std::to_integer<Number>(from[i]));
  }
  return number;
}

/// Checks a Java array of 64-bit words. Its number of words, 32 bits at `at`, must be one that Java
/// can have, and exactly that many words must follow. Precondition: the number is there.
result<void> check_words(std::span<const std::byte> bytes, std::size_t at);

/// m in words of 64 bits, and k.
struct words_and_hashes {
  std::uint32_t words;
  unsigned hashes;
};
/// The size that Guava computes, and Spark too, from the request's rate (3% by default) or its
/// number of bits. `format` is for the error.
result<words_and_hashes> guava_size(const plan_request& request, std::string_view format);

/// The smallest multiple of 8 that is not below n, which is below 2^64 - 8.
constexpr std::uint64_t up_to_eight(std::uint64_t n) noexcept {
  return (n + 7) / 8 * 8;
}

/// Appends a number to a header.
template <class Number>
void put_little(std::vector<std::byte>& to, Number number) {
  const auto at = to.size();
  to.resize(at + sizeof number);
  std::memcpy(to.data() + at, &number, sizeof number);
}
template <class Number>
void put_big(std::vector<std::byte>& to, Number number) {
  for (std::size_t i = sizeof number; i-- > 0;) {
    to.push_back(static_cast<std::byte>(number >> (8 * i) & 0xff));
  }
}

}  // namespace bloomset::dialects
