#pragma once

// Files of revoked certificates and of blocked add-ons that the original software wrote
// (tests/dialects/revocation/README.md), and what is asked of them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <bloomset/dialects/dialect.hpp>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bloomset::test {

namespace d = bloomset::dialects;

inline const std::filesystem::path vectors = BLOOMSET_REVOCATION_VECTORS;

inline std::vector<std::byte> bytes_of(const std::filesystem::path& file) {
  const auto mapped = map_bytes(file);
  if (!mapped) throw std::runtime_error(mapped.error().message);
  return {mapped->bytes().begin(), mapped->bytes().end()};
}

/// Opens a file by its content, as the command does.
inline result<d::foreign_filter> open_file(const std::filesystem::path& file,
                                           access how = access::read_only) {
  auto bytes = map_bytes(file);
  if (!bytes) return fail(bytes.error());
  return d::open(*bytes, {.name = file.string(), .how = how});
}

inline std::string id(char digit) {
  return std::string(64, digit);
}

/// The serial number of certificate j in the vectors: of one form if j is even, else with a leading
/// zero.
inline std::string serial(unsigned j) {
  return j % 2 == 0 ? fmt::format("{:04x}", j) : fmt::format("00{:02x}{:02x}", 0x80 + j, j);
}

enum class answer : std::uint8_t { unknown, good, revoked };

inline answer ask(const d::foreign_filter& filter, std::string_view key) {
  bool covered = false;
  filter.covers({&key, 1}, {&covered, 1});
  const bool revoked = filter.may_contain(key);
  EXPECT_TRUE(covered || !revoked) << key;
  return !covered ? answer::unknown : revoked ? answer::revoked : answer::good;
}

/// The right answer of five.v4.clubcard, in which two exceptions stand.
inline answer answer_of_five(char issuer, unsigned j) {
  switch (issuer) {
    case 'a':
      return j < 10 && j != 3 ? answer::revoked : answer::good;
    case 'b':
      return j < 10 ? answer::revoked : answer::good;
    case 'c':
      return answer::revoked;
    case 'd':
      return answer::good;
    default:
      return j < 30 || j == 35 ? answer::revoked : answer::good;
  }
}

inline constexpr std::array<std::pair<char, unsigned>, 5> issuers = {
    {{'a', 100}, {'b', 100}, {'c', 5}, {'d', 5}, {'e', 40}}};

}  // namespace bloomset::test
