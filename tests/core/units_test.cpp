// Numbers as people write them. Every documented form is read to the last digit. Other text is
// refused with a sentence that quotes it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bloomset/plan/units.hpp>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using bloomset::errc;
using bloomset::format_bytes;
using bloomset::format_count;
using bloomset::format_rate;
using bloomset::parse_bytes;
using bloomset::parse_count;
using bloomset::parse_rate;

constexpr std::uint64_t largest = 9'223'372'036'854'775'807;  // 2^63 - 1

template <class Parse>
void expect_read(Parse parse,
                 const std::vector<std::pair<std::string_view, std::uint64_t>>& forms) {
  for (const auto& [text, value] : forms) {
    const auto read = parse(text);
    ASSERT_TRUE(read) << text << ": " << read.error().message;
    EXPECT_EQ(*read, value) << text;
  }
}

template <class Parse>
void expect_refused(Parse parse, const std::vector<std::string_view>& forms) {
  for (const std::string_view text : forms) {
    const auto read = parse(text);
    ASSERT_FALSE(read) << "'" << text << "' was read as " << *read;
    EXPECT_EQ(read.error().code, errc::invalid_argument) << text;
    EXPECT_EQ(read.error().message.find(fmt::format("'{}' is not ", text)), 0U)
        << read.error().message;
  }
}

TEST(units, counts) {
  expect_read(parse_count, {{"1", 1},
                            {"1000", 1000},
                            {"10M", 10'000'000},
                            {"1e9", 1'000'000'000},
                            {"1E9", 1'000'000'000},
                            {"1e+3", 1000},
                            {"2.5k", 2500},
                            {"2.5K", 2500},
                            {"0.3M", 300'000},
                            {".5k", 500},
                            {"1.1e6", 1'100'000},
                            {"1_000_000", 1'000'000},
                            {"3G", 3'000'000'000},
                            {"3B", 3'000'000'000},
                            {"2T", 2'000'000'000'000},
                            {"0007", 7},
                            {"9007199254740993", 9'007'199'254'740'993},  // 2^53 + 1: no double
                            {"9223372036854775807", largest}});
}

TEST(units, sizes) {
  expect_read(parse_bytes, {{"4096", 4096},
                            {"4096B", 4096},
                            {"64k", 64'000},
                            {"64kB", 64'000},
                            {"64KB", 64'000},
                            {"120MB", 120'000'000},
                            {"120M", 120'000'000},
                            {"1GB", 1'000'000'000},
                            {"1TB", 1'000'000'000'000},
                            {"64KiB", 65'536},
                            {"64Ki", 65'536},
                            {"256MiB", 268'435'456},
                            {"1GiB", 1'073'741'824},
                            {"1.5GiB", 1'610'612'736},
                            {"1TiB", 1'099'511'627'776},
                            {"9223372036854775807", largest}});
}

TEST(units, rates) {
  const std::vector<std::pair<std::string_view, double>> forms = {
      {"1%", 0.01},    {"0.01", 0.01}, {"1/1000", 0.001}, {"1e-6", 1e-6},  {"0.1%", 0.001},
      {"1/1e6", 1e-6}, {".5", 0.5},    {"99.9%", 0.999},  {"2/3", 2.0 / 3}};
  for (const auto& [text, value] : forms) {
    const auto read = parse_rate(text);
    ASSERT_TRUE(read) << text << ": " << read.error().message;
    EXPECT_DOUBLE_EQ(*read, value) << text;
  }
  EXPECT_EQ(*parse_rate("0.45%"), 0.0045);  // to the last bit, as it is printed again
}

const std::vector<std::string_view> no_numbers = {
    "",    " ",   "0",   "-1", "+1",    "nan",    "inf",   "infinity", "1e400", "1e999999999999",
    "%",   "/",   "1/0", "e5", ".",     "1 ",     " 1",    "10 M",     "1x",    "0x10",
    "1e",  "1e+", "1_",  "_1", "1,000", "1..5",   "1.5.2", "1\n",      "1%%",   "1e5e5",
    "ten", "½",   "1M2", "-0", "0.0",   "1e-400", "--1",   "5%5"};

TEST(units, what_is_no_count_is_refused) {
  expect_refused(parse_count, no_numbers);
  expect_refused(parse_count,
                 {"1.5", "0.1", "2.0005k", "1%", "1/2", "1MB", "1MiB", "1m", "1g", "kM", "1kk",
                  "9223372036854775808", "18446744073709551615", "18446744073709551616",
                  "99999999999999999999999999", "1e19", "9223373T", "2^63"});
}

TEST(units, what_is_no_size_is_refused) {
  expect_refused(parse_bytes, no_numbers);
  expect_refused(parse_bytes, {"1.5", "0.1B", "1%", "1/2", "1m", "1mb", "1MIB", "1iB", "1GBB",
                               "9223372036854775808", "8388608TiB", "10000000TB", "2^63"});
}

TEST(units, what_is_no_rate_is_refused) {
  expect_refused(parse_rate, no_numbers);
  expect_refused(parse_rate, {"1",    "1.0",  "100%",  "101%", "0%",  "2",    "1/1",
                              "2/1",  "0/5",  "1/nan", "1/-5", "1/",  "/5",   "1/2/3",
                              "1%/2", "1/2%", "1k",    "1/1k", "1 %", "1/ 2", "5‰"});
}

TEST(units, counts_are_shown_in_groups_of_three) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(1234567), "1,234,567");
  EXPECT_EQ(format_count(largest), "9,223,372,036,854,775,807");
}

TEST(units, a_noun_follows_its_count) {
  EXPECT_EQ(format_count(0, "key"), "0 keys");
  EXPECT_EQ(format_count(1, "key"), "1 key");
  EXPECT_EQ(format_count(1234, "line"), "1,234 lines");
}

TEST(units, sizes_are_shown_with_three_digits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(958), "958 B");
  EXPECT_EQ(format_bytes(1000), "1.00 kB");
  EXPECT_EQ(format_bytes(119'813'221), "120 MB");
  EXPECT_EQ(format_bytes(999'600), "1.00 MB");
  EXPECT_EQ(format_bytes(12'340'000'000), "12.3 GB");
  EXPECT_EQ(format_bytes(std::uint64_t{1} << 59), "576 PB");
}

TEST(units, rates_are_shown_with_three_digits) {
  EXPECT_EQ(format_rate(0), "0%");
  EXPECT_EQ(format_rate(std::nan("")), "nan");
  EXPECT_EQ(format_rate(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(format_rate(0.01), "1.00%");
  EXPECT_EQ(format_rate(0.009999999), "1.00%");  // not 1.000%
  EXPECT_EQ(format_rate(0.000459), "0.0459%");
  EXPECT_EQ(format_rate(0.0216), "2.16%");
  EXPECT_EQ(format_rate(0.21577), "21.6%");
  EXPECT_EQ(format_rate(0.99999), "100%");
  EXPECT_EQ(format_rate(1), "100%");
  EXPECT_EQ(format_rate(2e-6), "0.000200%");
  EXPECT_EQ(format_rate(1e-6), "1.00e-06");
  EXPECT_EQ(format_rate(9.73e-7), "9.73e-07");  // never a percent sign after an exponent
  EXPECT_EQ(format_rate(1e-9), "1.00e-09");
}

TEST(units, a_shown_count_without_its_commas_is_read_back) {
  for (std::uint64_t n = 1; n < largest / 3; n *= 3) {
    std::string shown = format_count(n);
    std::erase(shown, ',');
    const auto read = parse_count(shown);
    ASSERT_TRUE(read) << shown;
    EXPECT_EQ(*read, n);
  }
}

}  // namespace
