// Cascades of blocked add-ons and of revoked certificates, against files that Firefox and
// rust_cascade wrote.

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

struct cascade_vector {
  std::string_view file;
  std::string_view hash;
  std::uint64_t layers;
};

TEST(cascade, answers_as_rust_cascade) {
  for (const auto& [file, hash, layers] :
       {cascade_vector{"cascade-deep-sha256l32.mlbf", "sha256", 7},
        cascade_vector{"cascade-deep-murmur3.mlbf", "murmur3", 6}}) {
    const auto filter = open_file(vectors / file);
    ASSERT_TRUE(filter) << filter.error().message;
    for (int i = 0; i < 20'000; ++i) {
      if (i < 300) EXPECT_TRUE(filter->may_contain(fmt::format("in{}@x:{}", i, i % 7)));
      EXPECT_FALSE(filter->may_contain(fmt::format("out{}@x:{}", i, i % 7))) << file << i;
    }
    const auto info = filter->info();
    EXPECT_EQ(std::get<std::uint64_t>(find_property(info.extras, "layers")->value), layers);
    EXPECT_EQ(std::get<std::string>(find_property(info.extras, "hash")->value), hash);
    EXPECT_NEAR(info.estimated_size.value(), 300, 15);
  }
}

TEST(cascade, the_stream_of_hash_3_runs_on_from_layer_to_layer) {
  const auto filter = open_file(vectors / "cascade-sha256ctr.mlbf");
  ASSERT_TRUE(filter) << filter.error().message;
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(filter->may_contain(fmt::format("addon{}@example.com:1.{}", i, i % 3)), i < 20) << i;
  }
}

/// A cascade of those members among the numbers below n.
result<d::foreign_filter> cascade_of(unsigned n, unsigned members, d::option_list options = {}) {
  std::vector<std::string> all;
  for (unsigned i = 0; i < n; ++i) all.push_back(std::to_string(i));
  const auto views = views_of(all);
  return d::build(*d::find("cascade").value(), {.options = std::move(options)},
                  {.members = d::key_source::of(std::span(views).first(members)),
                   .universe = d::key_source::of(views)});
}

TEST(cascade, every_share_of_members_is_exact) {
  for (const unsigned members : {0U, 1U, 10U, 500U, 501U, 990U, 999U, 1000U}) {
    const auto filter = cascade_of(1000, members);
    ASSERT_TRUE(filter) << filter.error().message;
    for (unsigned i = 0; i < 1000; ++i) {
      ASSERT_EQ(filter->may_contain(std::to_string(i)), i < members) << members;
    }
    const bool inverted = std::get<bool>(find_property(filter->info().extras, "inverted")->value);
    EXPECT_EQ(inverted, members > 500);
  }
}

TEST(cascade, options_are_refused_that_it_cannot_store) {
  const auto says = [](unsigned members, d::option_list options) {
    const auto filter = cascade_of(10, members, std::move(options));
    return filter ? std::string() : filter.error().message;
  };
  EXPECT_EQ(says(1, {{"version", "1"}}), "");
  EXPECT_NE(says(6, {{"version", "1"}}).find("leave version out"), std::string::npos);
  EXPECT_NE(says(1, {{"version", "1"}, {"salt", "00"}}).find("no salt"), std::string::npos);
  EXPECT_NE(says(1, {{"version", "3"}}).find("from 1 to 2"), std::string::npos);
  EXPECT_NE(says(1, {{"hash", "md5"}}).find("murmur3"), std::string::npos);
  EXPECT_NE(says(1, {{"hash", "murmur3"}, {"salt", "00"}}).find("no salt"), std::string::npos);
  for (const std::string& salt : {std::string("0"), std::string("xy"), std::string(512, '0')}) {
    EXPECT_NE(says(1, {{"salt", salt}}).find("hexadecimal"), std::string::npos) << salt;
  }
  EXPECT_EQ(says(1, {{"salt", std::string(510, '0')}}), "");
}

TEST(cascade, cannot_be_merged) {
  auto filter = open_file(vectors / "cascade-sha256ctr.mlbf", access::writable);
  ASSERT_TRUE(filter);
  EXPECT_EQ(filter->merge(*open_file(vectors / "cascade-sha256ctr.mlbf")).error().code,
            errc::unsupported);
}

TEST(cascade, wrong_fields_are_named) {
  const auto good = bytes_of(vectors / "cascade-deep-sha256l32.mlbf");
  const auto says = [&](std::size_t at, unsigned byte) {
    auto bytes = good;
    bytes[at] = static_cast<std::byte>(byte);
    const auto opened = d::open(*d::find("cascade").value(), mapped_storage(nullptr, bytes));
    return opened ? std::string() : opened.error().message;
  };
  // 2 bytes of version, a flag, the salt's length, 16 bytes of salt, then the first layer.
  EXPECT_NE(says(0, 3).find("its version is 3"), std::string::npos);
  EXPECT_NE(says(2, 2).find("is inverted is 2"), std::string::npos);
  EXPECT_NE(says(3, 255).find("layer 1"), std::string::npos);
  EXPECT_NE(says(20, 4).find("hash function 4"), std::string::npos);
  EXPECT_NE(says(24, 255).find("bytes follow"), std::string::npos);
  EXPECT_NE(says(26, 255).find("hash functions"), std::string::npos);
  EXPECT_NE(says(29, 2).find("says that it is layer 2"), std::string::npos);
}

}  // namespace
}  // namespace bloomset::test
