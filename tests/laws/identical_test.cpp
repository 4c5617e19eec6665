// The same keys in any order, and in any parts that are merged, give the same bytes.

#include <gtest/gtest.h>

#include <algorithm>
#include <bloomset/bloomset.hpp>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tests/support/golden_recipes.hpp"

namespace bloomset::test {
namespace {

using key_list = std::vector<std::string>;

plan_request request_of(const kind_info& kind, unsigned hash_bits) {
  plan_request request{.capacity = 4000, .fpr = 0.01, .seed = 3, .hash_bits = hash_bits};
  if (kind.name == "counting_bloom") request.options = {{"counter_bits", "8"}};
  return request;
}

/// The bytes of the filter's file.
std::vector<std::byte> file_of(any_filter filter) {
  filter.settle_count();
  return serialize(filter.image());
}

/// The filter of these keys. Two batches and single keys are inserted, if keys can be.
any_filter filled(const kind_info& kind, const plan_request& request, const key_list& keys) {
  if (!kind.can.insert) return filter_of(kind, request, keys);
  any_filter filter = value_of(kind.create(request));
  std::vector<std::string_view> views(keys.begin(), keys.end());
  const std::span<const std::string_view> all(views);
  const std::size_t third = all.size() / 3;
  value_of(filter.insert(all.first(third)));
  value_of(filter.insert(all.subspan(third, third)));
  for (const std::string_view& key : all.subspan(2 * third)) {
    value_of(filter.insert(std::span(&key, 1)));
  }
  return filter;
}

// Filters larger than memory are filled so. Also arrays with fewer bits than parts.
TEST(Identical, PassesForPartsOfTheMemoryMakeTheFilter) {
  std::mt19937_64 random(11);
  std::vector<hash64> hashes(3000);
  for (hash64& h : hashes) h.value = random();
  hashes.insert(hashes.end(), hashes.begin(), hashes.begin() + 500);
  const std::span<const hash64> all(hashes);
  for (const kind_info& kind : kinds()) {
    if (!kind.can.insert || !kind.any_order || kind.in_hash_order) continue;
    for (const std::uint64_t bits : {4ULL, 100ULL, 30'011ULL, 120'000ULL}) {
      const plan_request request{.capacity = 3000, .bits = bits};
      any_filter whole = value_of(kind.create(request));
      value_of(whole.insert(all));
      const auto expected = file_of(std::move(whole));
      for (const unsigned parts : {1U, 2U, 7U, 200U}) {
        any_filter filter = value_of(kind.create(request));
        for (unsigned part = 0; part < parts; ++part) {
          ASSERT_TRUE(filter.insert_part(all.first(1000), part, parts));
          ASSERT_TRUE(filter.insert_part(all.subspan(1000), part, parts));
        }
        EXPECT_EQ(file_of(std::move(filter)), expected) << kind.name << ' ' << bits << ' ' << parts;
      }
    }
  }
  any_filter other = value_of(value_of(find_kind("cuckoo"))->create({.capacity = 1, .fpr = 0.01}));
  EXPECT_EQ(other.insert_part(all, 0, 1).error().code, errc::unsupported);
}

void expect_same_in_any_order(const kind_info& kind, const plan_request& request) {
  std::mt19937_64 random(7);
  key_list keys = words("member", 5000);  // also beyond the capacity
  const auto expected = file_of(filled(kind, request, keys));
  for (int turn = 0; turn < 3; ++turn) {
    std::shuffle(keys.begin(), keys.end(), random);
    EXPECT_EQ(file_of(filled(kind, request, keys)), expected) << kind.name;
    if (!kind.can.merge) continue;
    const auto middle = keys.begin() + static_cast<std::ptrdiff_t>(1 + random() % 4999);
    any_filter parts = filled(kind, request, {middle, keys.end()});
    value_of(parts.merge(filled(kind, request, {keys.begin(), middle})));
    EXPECT_EQ(file_of(std::move(parts)), expected) << kind.name << ", in parts";
  }
}

TEST(Identical, KindsThatSaySoGiveTheSameBytesInAnyOrder) {
  unsigned checked = 0;
  for (const kind_info& kind : kinds()) {
    if (!kind.any_order) continue;
    for (unsigned hash_bits = 64; hash_bits <= (kind.takes_128_bits ? 128U : 64U);
         hash_bits += 64) {
      expect_same_in_any_order(kind, request_of(kind, hash_bits));
    }
    ++checked;
  }
  EXPECT_GE(checked, 5U);
}

// What other kinds would have to give up: the place of a key depends on the keys before it.
TEST(Identical, OtherKindsDependOnTheOrder) {
  for (const kind_info& kind : kinds()) {
    if (kind.any_order) continue;
    key_list keys = words("member", 4000);
    const auto request = request_of(kind, 64);
    const auto expected = file_of(filled(kind, request, keys));
    std::ranges::reverse(keys);
    EXPECT_NE(file_of(filled(kind, request, keys)), expected) << kind.name;
  }
}

TEST(Identical, ASettledCountIsTheEstimate) {
  for (const kind_info& kind : kinds()) {
    if (!kind.can.insert || !kind.any_order || kind.can.count) continue;
    any_filter filter = filled(kind, request_of(kind, 64), words("member", 3000));
    filter.settle_count();
    const filter_info info = filter.info();
    EXPECT_EQ(info.count, static_cast<std::uint64_t>(std::llround(info.estimated_size)));
    if (kind.name == "bloom") {
      EXPECT_EQ(info.count, 3002U);  // on every machine
    }
    value_of(filter.clear());
    filter.settle_count();
    EXPECT_EQ(filter.size(), 0U);
    // A full filter tells no number. Its count is what one bit less would tell.
    any_filter small = value_of(kind.create({.capacity = 8, .bits = 512}));
    const key_list many = words("member", 5000);
    const std::vector<std::string_view> views(many.begin(), many.end());
    value_of(small.insert(views));
    ASSERT_TRUE(std::isinf(small.info().estimated_size)) << kind.name;
    small.settle_count();
    const std::uint64_t full = small.size();
    EXPECT_GT(full, 50U);
    EXPECT_LT(full, 5000U);
    value_of(small.insert(views));
    small.settle_count();
    EXPECT_EQ(small.size(), full);
  }
}

}  // namespace
}  // namespace bloomset::test
