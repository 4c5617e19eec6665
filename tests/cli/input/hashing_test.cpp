// Hashes of all inputs by several threads are in the order of the keys.

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "filters/hashing.hpp"
#include "tests/support/input_files.hpp"

namespace {

using bloomset::hash64;
using bloomset::hash_seed;
using bloomset::result;
using namespace bloomset::cli;

class hashing : public bloomset::test::input_files {
 protected:
  /// The hashes that one thread computes from the same inputs, batch by batch.
  static std::vector<hash64> one_by_one(const input_options& options, std::uint64_t seed) {
    auto input = key_input::open(options);
    EXPECT_TRUE(input);
    std::vector<hash64> all;
    for (;;) {
      const auto batch = (*input)->next();
      EXPECT_TRUE(batch);
      if (batch->lines.empty()) return all;
      for (const auto key : batch->keys) {
        all.push_back(bloomset::xxh3_hasher(seed)(bloomset::bytes_of(key)));
      }
    }
  }

  static result<std::vector<hash64>> by_threads(const input_options& options, std::uint64_t seed,
                                                unsigned threads) {
    auto input = key_input::open(options);
    EXPECT_TRUE(input);
    // With a second seed, whose hashes are in the second list.
    const std::array<hash_seed, 2> seeds = {seed, 1000};
    std::array<std::vector<hash64>, 2> all;
    const auto done = hash_all(
        **input, seeds,
        [&](hash_lists lists) -> result<void> {
          EXPECT_EQ(lists.size(), seeds.size());
          for (std::size_t i = 0; i < lists.size(); ++i) {
            all.at(i).insert(all.at(i).end(), lists[i].begin(), lists[i].end());
          }
          return {};
        },
        threads);
    if (!done) return bloomset::fail(done.error());
    EXPECT_EQ((*input)->keys(), all[0].size());
    EXPECT_EQ(all[1], one_by_one(options, 1000));
    return all[0];
  }
};

TEST_F(hashing, gives_what_one_thread_gives_in_that_order) {
  std::string many;  // more than a block
  for (unsigned i = 0; i < 22'000; ++i) {
    many += std::to_string(i) + std::string(i % 197, 'k');
    many += i % 7 == 0 ? "\r\n" : "\n";
  }
  const std::string long_key(2'500'000, 'x');  // more than a block
  input_options options;
  options.names = {file("many", many),
                   file("empty", ""),
                   file("no end", "a\nb"),
                   file("blank", "\n\n"),
                   file("long", "c\n" + long_key + "\nd"),
                   file("longest", long_key)};
  for (const bool crlf : {false, true}) {
    options.crlf = crlf;
    const auto expected = one_by_one(options, 7);
    ASSERT_EQ(expected.size(), 22'000U + 2 + 3 + 1);
    for (const unsigned threads : {1U, 2U, 5U}) {
      const auto got = by_threads(options, 7, threads);
      ASSERT_TRUE(got) << got.error().message;
      EXPECT_EQ(*got, expected) << threads << " threads";
    }
  }
  options.nul = true;
  EXPECT_EQ(*by_threads(options, 7, 2), one_by_one(options, 7));
}

TEST_F(hashing, knows_the_position_of_each_key_and_of_damage) {
  // A gzip member whose data ends too early, after a file of three keys.
  const std::string cut("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", 10);
  input_options options;
  options.names = {file("good", "a\nb\nc\n"), file("cut.gz", cut)};
  const auto got = by_threads(options, 0, 3);
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().message.find("cut.gz:1: "), std::string::npos) << got.error().message;

  options.names = {file("good", "a\nb\nc\n"), file("more", "d\ne\n")};
  auto input = key_input::open(options);
  ASSERT_TRUE(input);
  const std::array seeds = {hash_seed()};
  ASSERT_TRUE(hash_all(**input, seeds, [](hash_lists) { return result<void>(); }, 2));
  EXPECT_TRUE((*input)->position_of_key(2).ends_with("good:3"));
  EXPECT_TRUE((*input)->position_of_key(4).ends_with("more:2"));
}

TEST_F(hashing, a_use_that_fails_ends_it) {
  std::string many;
  for (int i = 0; i < 20'000; ++i) many += std::string(400, 'x') + '\n';  // several blocks
  input_options options;
  options.names = {file("many", many)};
  auto input = key_input::open(options);
  ASSERT_TRUE(input);
  int calls = 0;
  const std::array seeds = {hash_seed()};
  const auto done = hash_all(
      **input, seeds,
      [&](hash_lists) -> result<void> {
        ++calls;
        return bloomset::fail(bloomset::errc::full, "no more");
      },
      3);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "no more");
  EXPECT_EQ(calls, 1);
}

}  // namespace
