// The index that names the clubcards of a folder.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bloomset/dialects/dialect.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <tuple>

#include "tests/dialects/revocation_files.hpp"
#include "tests/support/dialect_samples.hpp"

namespace bloomset::test {
namespace {

class clubcard_index : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              fmt::format("bloomset-index-{}", std::random_device()());
    std::filesystem::create_directory(folder_);
    for (const std::string_view file : {"two.v4.clubcard", "five.v4.clubcard", "index.bin"}) {
      std::filesystem::copy_file(vectors / file, folder_ / file);
    }
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(std::string_view file, const std::vector<std::byte>& bytes) const {
    std::ofstream to(folder_ / file, std::ios::binary);
    to.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  }
  std::string says(const std::vector<std::byte>& index) const {
    write("index.bin", index);
    const auto opened = open_file(folder_ / "index.bin");
    return opened ? std::string() : opened.error().message;
  }

  std::filesystem::path folder_;
};

std::string log_01_at(std::uint64_t time) {
  std::string text = ":";
  for (int i = 0; i < 32; ++i) text += "01";
  return text + fmt::format("@{}", time);
}

TEST_F(clubcard_index, asks_all_filters_that_cover_a_certificate) {
  const auto filter = open_file(folder_ / "index.bin");
  ASSERT_TRUE(filter) << filter.error().message;
  for (const auto& [issuer, certificates] : issuers) {
    for (unsigned j = 0; j < certificates; ++j) {
      // In the first filter no exception hides aa's certificate 3.
      const answer right = issuer == 'a' && j == 3 ? answer::revoked : answer_of_five(issuer, j);
      const std::string key = id(issuer) + ":" + serial(j);
      EXPECT_EQ(ask(*filter, key + log_01_at(1'500'000'000'000)), right) << key;
      EXPECT_EQ(ask(*filter, key + log_01_at(999)), answer::unknown);
      EXPECT_EQ(ask(*filter, key), answer::unknown);
      EXPECT_FALSE(filter->accepts(key));
    }
  }
  EXPECT_EQ(ask(*filter, id('1') + ":0000" + log_01_at(1'500'000'000'000)), answer::unknown);
  EXPECT_EQ(filter->image()->bytes(), bytes_of(folder_ / "index.bin"));
  EXPECT_EQ(filter->convert(filter->format(), {}).error().code, errc::unsupported);
}

TEST_F(clubcard_index, a_merge_writes_it) {
  auto merged = open_file(folder_ / "two.v4.clubcard", access::writable);
  ASSERT_TRUE(merged);
  // Both, in the vector's order; then the index itself, which names nothing new.
  for (const std::string_view other : {"five.v4.clubcard", "index.bin", "two.v4.clubcard"}) {
    ASSERT_TRUE(merged->merge(*open_file(folder_ / other))) << other;
    EXPECT_EQ(merged->image()->bytes(), bytes_of(vectors / "index.bin")) << other;
  }
  const std::string key = id('a') + ":" + serial(3) + log_01_at(1'500'000'000'000);
  EXPECT_EQ(ask(*merged, key), answer::revoked);
  // A third filter is added to an index.
  std::filesystem::copy_file(vectors / "five.v3.clubcard", folder_ / "five.v3.clubcard");
  ASSERT_TRUE(merged->merge(*open_file(folder_ / "five.v3.clubcard")));
  EXPECT_EQ(says(merged->image()->bytes()), "");
  const auto again = open_file(folder_ / "index.bin");
  ASSERT_TRUE(again);
  EXPECT_EQ(std::get<std::uint64_t>(find_property(again->info().extras, "filters")->value), 3U);
  EXPECT_EQ(std::get<std::uint64_t>(find_property(again->info().extras, "intervals")->value), 6U);
}

TEST_F(clubcard_index, cannot_name_every_file) {
  auto merged = open_file(folder_ / "two.v4.clubcard", access::writable);
  ASSERT_TRUE(merged);
  const auto elsewhere = merged->merge(*open_file(vectors / "five.v4.clubcard"));
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().code, errc::incompatible);
  for (const std::string& name : {std::string("a b"), std::string(33, 'x')}) {
    std::filesystem::copy_file(vectors / "five.v3.clubcard", folder_ / name);
    const auto unnamed = merged->merge(*open_file(folder_ / name));
    ASSERT_FALSE(unnamed);
    EXPECT_NE(unnamed.error().message.find("cannot name the file '" + name + "'"),
              std::string::npos);
  }
  EXPECT_EQ(merged->image()->bytes(), bytes_of(vectors / "two.v4.clubcard"));
  auto reading = open_file(folder_ / "two.v4.clubcard");
  EXPECT_EQ(reading->merge(*open_file(folder_ / "five.v4.clubcard")).error().code,
            errc::unsupported);
}

TEST_F(clubcard_index, version_0_has_one_byte_for_files) {
  // The same index by hand: two files, the logs, the entries.
  const auto one = bytes_of(vectors / "index.bin");
  std::vector<std::byte> zero(one.begin(), one.begin() + 8);
  zero[7] = std::byte{'0'};
  zero.push_back(one[9]);
  zero.insert(zero.end(), one.begin() + 10, one.begin() + 14 + 64);
  constexpr std::size_t logs_at = 14 + 64;
  const std::size_t logs = std::to_integer<std::size_t>(one[13]);
  std::vector<std::byte> entries;
  const std::size_t first_entry = 13 + 64 + logs * 42;
  for (std::size_t log = 0; log < logs; ++log) {
    const std::byte* const at = one.data() + logs_at + log * 42;
    std::size_t from =
        std::to_integer<std::size_t>(at[38]) * 256 + std::to_integer<std::size_t>(at[39]);
    const std::size_t count = std::to_integer<std::size_t>(at[41]);
    zero.insert(zero.end(), at, at + 38);
    const std::size_t offset = first_entry + entries.size();
    zero.push_back(static_cast<std::byte>(offset / 256));
    zero.push_back(static_cast<std::byte>(offset % 256));
    zero.insert(zero.end(), at + 40, at + 42);
    for (std::size_t i = 0; i < count; ++i, from += 18) {
      entries.insert(entries.end(), one.begin() + static_cast<std::ptrdiff_t>(from) + 1,
                     one.begin() + static_cast<std::ptrdiff_t>(from) + 18);
    }
  }
  zero.insert(zero.end(), entries.begin(), entries.end());
  ASSERT_EQ(says(zero), "");
  const auto filter = open_file(folder_ / "index.bin");
  EXPECT_EQ(filter->info().variant, "index, upkiidx0");
  EXPECT_EQ(ask(*filter, id('e') + ":" + serial(35) + log_01_at(1'500'000'000'000)),
            answer::revoked);
  EXPECT_EQ(ask(*filter, id('e') + ":" + serial(34) + log_01_at(1'500'000'000'000)), answer::good);
}

TEST_F(clubcard_index, every_damage_is_refused_or_harmless) {
  const auto good = bytes_of(vectors / "index.bin");
  for (std::size_t size = 8; size < good.size(); ++size) {
    EXPECT_NE(says({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)}), "") << size;
  }
  for (std::size_t at = 8; at < good.size(); ++at) {
    for (const unsigned byte : {0U, 1U, 0x2fU, 0x7fU, 0xffU}) {
      auto bytes = good;
      bytes[at] = static_cast<std::byte>(byte);
      const std::string why = says(bytes);
      EXPECT_TRUE(why.empty() || why.starts_with(folder_.string())) << why;
    }
  }
  auto slash = good;
  slash[14] = std::byte{'/'};
  EXPECT_NE(says(slash).find("other characters"), std::string::npos);
  auto padded = good;
  padded[14 + 31] = std::byte{'x'};
  EXPECT_NE(says(padded).find("other characters"), std::string::npos);
}

TEST_F(clubcard_index, a_filter_that_is_missing_or_damaged_is_named) {
  const auto good = bytes_of(vectors / "index.bin");
  auto card = bytes_of(vectors / "two.v4.clubcard");
  card.pop_back();
  write("two.v4.clubcard", card);
  EXPECT_NE(says(good).find("its filter two.v4.clubcard: it ends"), std::string::npos);
  std::filesystem::remove(folder_ / "two.v4.clubcard");
  EXPECT_NE(says(good).find("names the filter two.v4.clubcard, which is not in its folder"),
            std::string::npos);
}

}  // namespace
}  // namespace bloomset::test
