// Filters whose keys are hashed with a secret key, through any_filter and through types.

#include <gtest/gtest.h>

#include <algorithm>
#include <bloomset/bloomset.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "teach/rules.hpp"
#include "tests/support/words.hpp"

namespace bloomset::test {
namespace {

constexpr hash_key key{{0x0123456789abcdef, 0x5555aaaa5555aaaa}};
constexpr hash_key other_key{{0x0123456789abcdef, 0x5555aaaa5555aaab}};

class keyed : public ::testing::TestWithParam<std::string_view> {
 protected:
  const kind_info& kind = **find_kind(GetParam());
  const std::vector<std::string> members = words("member", 3000);
  any_filter made(const hash_seed& seed, std::uint64_t capacity = 7000) const {
    return filter_of(kind, {.capacity = capacity, .fpr = 0.02, .seed = seed}, members);
  }
  const std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / (std::string(GetParam()) + ".keyed");
};

TEST_P(keyed, a_file_opens_with_its_key_and_with_no_other) {
  const any_filter filter = made(key);
  ASSERT_TRUE(save(filter, path));

  const auto opened = open(path, verification::always, key);
  ASSERT_TRUE(opened) << opened.error().message;
  for (const auto& member : members) ASSERT_TRUE(opened->may_contain(member)) << member;
  EXPECT_EQ(opened->info().hash, hash_id::siphash_1_3);
  EXPECT_EQ(opened->info().seed, hash_seed(key).value());

  for (const std::optional<hash_key>& wrong :
       {std::optional<hash_key>(), std::optional(other_key)}) {
    const auto refused = open(path, verification::always, wrong);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, errc::invalid_argument);
    EXPECT_NE(refused.error().message.find("secret key"), std::string::npos);
    EXPECT_FALSE(load(path, wrong));
  }
}

TEST_P(keyed, all_but_the_keys_is_known_without_the_key) {
  const any_filter filter = made(key);
  const auto bytes = serialize(filter.image());
  const auto info = info_of(value_of(read_bytes(bytes)), "memory");
  ASSERT_TRUE(info) << info.error().message;
  const filter_info expected = filter.info();
  EXPECT_EQ(info->kind, kind.kind);
  EXPECT_EQ(info->hash, hash_id::siphash_1_3);
  EXPECT_EQ(info->seed, hash_seed(key).value());
  EXPECT_EQ(info->count, expected.count);
  EXPECT_EQ(info->plan.capacity, expected.plan.capacity);
  EXPECT_EQ(info->plan.planned_fpr, expected.plan.planned_fpr);
  EXPECT_EQ(info->current_fpr, expected.current_fpr);
  EXPECT_EQ(info->estimated_size, expected.estimated_size);
}

TEST_P(keyed, the_secret_is_in_no_byte_of_the_file) {
  const auto bytes = serialize(made(key).image());
  for (const std::span<const std::byte> part : {key.bytes().first<8>(), key.bytes().last<8>()}) {
    EXPECT_EQ(std::search(bytes.begin(), bytes.end(), part.begin(), part.end()), bytes.end());
  }
}

TEST_P(keyed, only_filters_of_one_key_combine) {
  any_filter filter = made(key);
  if (!kind.can.merge) {
    const auto refused = filter.merge(made(key));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, errc::unsupported);
    return;
  }
  EXPECT_FALSE(filter.merge(made(other_key)));
  EXPECT_FALSE(filter.merge(made(hash_seed())));
  // A public seed with the number of the key's identifier is another hash function.
  EXPECT_FALSE(filter.merge(made(hash_seed(key).value())));
  EXPECT_TRUE(filter.merge(made(key)));
}

// The rate among keys that an attacker found to pass in a filter of the same members whose key he
// knows: it is that of any other keys. 300 keys at a rate of at most 2% pass 40 times with a
// probability below 1e-15.
TEST_P(keyed, positives_that_were_found_with_another_key_are_no_more_likely) {
  const any_filter known = made(other_key, members.size());
  const any_filter secret = made(key, members.size());
  std::vector<std::string> found;
  for (std::uint64_t i = 0; found.size() < 300 && i < 4000000; ++i) {
    if (auto candidate = word("found", i); known.may_contain(candidate)) {
      found.push_back(std::move(candidate));
    }
  }
  ASSERT_EQ(found.size(), 300U);
  EXPECT_LT(std::count_if(found.begin(), found.end(),
                          [&](const auto& each) { return secret.may_contain(each); }),
            40);
}

INSTANTIATE_TEST_SUITE_P(kinds, keyed, ::testing::ValuesIn(kind_names()),
                         [](const auto& test) { return std::string(test.param); });

TEST(keyed_types, integers_strings_and_batches_use_the_key) {
  blocked_bloom filter({.capacity = 1000, .fpr = 0.01, .seed = key});
  const std::vector<std::uint64_t> numbers = {1, 2, 3, 500};
  filter.insert(numbers);
  for (const std::uint64_t number : numbers) {
    EXPECT_TRUE(filter.may_contain(number));
    const auto bytes = std::as_bytes(std::span(&number, 1));
    EXPECT_TRUE(filter.may_contain(siphash(key, bytes)));
  }
  EXPECT_EQ(filter.hash_function().id(), hash_id::siphash_1_3);
}

TEST(keyed_types, a_probe_rule_that_hashes_by_itself_refuses_a_key) {
  const auto made =
      basic_bloom<teach::salted_hashing>::make({.capacity = 100, .fpr = 0.01, .seed = key});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::unsupported);
}

TEST(keyed_types, new_keys_differ) {
  const auto a = new_hash_key();
  const auto b = new_hash_key();
  ASSERT_TRUE(a && b);
  EXPECT_NE(*a, *b);
}

// The flag that older readers refuse, and the number of the hash function, belong together.
TEST(keyed_files, flag_and_hash_function_agree) {
  const auto plain = serialize(bloom({.capacity = 10, .fpr = 0.01}).image());
  const auto secret = serialize(bloom({.capacity = 10, .fpr = 0.01, .seed = key}).image());
  EXPECT_EQ(std::to_integer<int>(plain[16]), 0);
  EXPECT_EQ(std::to_integer<int>(secret[16]), 1);
  EXPECT_EQ(std::to_integer<int>(secret[14]), 3);
}

}  // namespace
}  // namespace bloomset::test
