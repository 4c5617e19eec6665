// The contract of concepts.hpp, which users may rely on for every kind, over every kind in its own
// memory. Its laws for sequences of operations are in property_test.cpp: inserts, erases and counts
// beside a real multiset, copies, moves and clear.

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "tests/support/filter_types.hpp"

namespace bloomset::test {
namespace {

template <class F>
class contract : public ::testing::Test {};
TYPED_TEST_SUITE(contract, filter_types, filter_names);

/// Hashes that stay valid as long as `keys`.
template <class F>
std::vector<typename F::hash_type> hashes_of(const F& filter,
                                             const std::vector<std::string>& keys) {
  std::vector<typename F::hash_type> all;
  for (const std::string& key : keys) all.push_back(filter.hash_function()(bytes_of(key)));
  return all;
}

TYPED_TEST(contract, a_planned_filter_takes_its_capacity_and_denies_no_member) {
  for (const std::uint64_t n : {1U, 2U, 3U, 7U, 100U, 1000U}) {
    auto f = make<TypeParam>(n, 0.01, n);
    for (std::uint64_t i = 0; i < n; ++i) {
      ASSERT_TRUE(is_contained(f.insert(word("member", i)))) << "key " << i << " of " << n;
    }
    for (std::uint64_t i = 0; i < n; ++i) {
      ASSERT_TRUE(f.may_contain(word("member", i))) << "key " << i << " of " << n;
    }
  }
}

TYPED_TEST(contract, ten_times_its_capacity_makes_no_false_negative) {
  auto f = make<TypeParam>(50, 0.05);
  std::vector<std::string> contained;
  for (const std::string& key : words("member", 500)) {
    if (is_contained(f.insert(key))) contained.push_back(key);
    for (const std::string& earlier : contained) ASSERT_TRUE(f.may_contain(earlier)) << earlier;
  }
  EXPECT_GE(contained.size(), 50U);
}

TYPED_TEST(contract, a_batch_of_keys_does_what_single_keys_do) {
  const auto keys = words("batch", 200);
  const auto non_members = words("non-member", 200);
  for (std::size_t n = 0; n <= 200; ++n) {
    auto one_by_one = make<TypeParam>(150, 0.05, 3);
    auto batch = make<TypeParam>(150, 0.05, 3);
    insert_summary expected;
    for (std::size_t i = 0; i < n; ++i) {
      const auto outcome = one_by_one.insert(keys[i]);
      if (!is_contained(outcome)) {
        expected.stopped_by = outcome;
        break;
      }
      ++expected.done;
      ++(outcome == insert_outcome::inserted ? expected.inserted : expected.maybe_present);
    }
    const auto summary = batch.insert(std::span(keys).first(n));
    EXPECT_EQ(summary.done, expected.done) << n;
    EXPECT_EQ(summary.inserted, expected.inserted) << n;
    EXPECT_EQ(summary.maybe_present, expected.maybe_present) << n;
    EXPECT_EQ(summary.stopped_by, expected.stopped_by) << n;
    ASSERT_EQ(file_bytes(batch), file_bytes(one_by_one)) << n;

    for (const auto* asked : {&keys, &non_members}) {
      std::array<bool, 200> answers{};
      batch.may_contain(std::span(*asked).first(n), answers);
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(answers.at(i), batch.may_contain((*asked)[i])) << i << " of " << n;
      }
      for (std::size_t i = n; i < answers.size(); ++i) ASSERT_FALSE(answers.at(i)) << "overrun";
    }
  }
}

TYPED_TEST(contract, a_batch_of_numbers_does_what_single_numbers_do) {
  std::vector<std::int32_t> keys;
  for (std::int32_t i = 0; i < 300; ++i) keys.push_back(i * 7 - 1000);
  auto one_by_one = make<TypeParam>(300, 0.01, 3);
  auto batch = make<TypeParam>(300, 0.01, 3);
  for (const std::int32_t key : keys) one_by_one.insert(key);
  EXPECT_EQ(batch.insert(keys).done, keys.size());
  EXPECT_EQ(file_bytes(batch), file_bytes(one_by_one));
  std::array<bool, 300> answers{};
  batch.may_contain(keys, answers);
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_TRUE(answers.at(i)) << keys[i];
  if constexpr (erasable<TypeParam>) {
    EXPECT_EQ(batch.erase(keys), keys.size());
    EXPECT_EQ(file_bytes(batch), file_bytes(make<TypeParam>(300, 0.01, 3)));
  }
}

TYPED_TEST(contract, the_door_for_hashes_is_the_door_for_keys) {
  const auto keys = words("hash", 150);
  for (const std::size_t n : {0U, 1U, 15U, 16U, 17U, 33U, 127U, 150U}) {
    auto by_key = make<TypeParam>(150, 0.05, 9);
    auto by_hash = make<TypeParam>(150, 0.05, 9);
    auto by_batch = make<TypeParam>(150, 0.05, 9);
    const auto hashes = hashes_of(by_key, keys);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(by_hash.insert(hashes[i]), by_key.insert(keys[i]));
    }
    const std::span some = std::span<const typename TypeParam::hash_type>(hashes).first(n);
    EXPECT_EQ(by_batch.insert(some).done, n);
    EXPECT_EQ(file_bytes(by_hash), file_bytes(by_key));
    EXPECT_EQ(file_bytes(by_batch), file_bytes(by_key));
    std::array<bool, 150> answers{};
    by_key.may_contain(std::span<const typename TypeParam::hash_type>(hashes), answers);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      EXPECT_EQ(answers.at(i), by_key.may_contain(keys[i]));
      EXPECT_EQ(answers.at(i), by_key.may_contain(hashes[i]));
    }
  }
}

/// The file of a filter of that type with that key. Keys that make the same bytes are one key to
/// it.
template <class F, class Key>
std::vector<std::byte> with_key(const Key& key) {
  auto f = make<F>(1000, 0.001);
  f.insert(key);
  return file_bytes(f);
}

TYPED_TEST(contract, a_key_is_its_bytes_whatever_holds_them) {
  const std::string text = "alice";
  const auto bytes = std::as_bytes(std::span(text));
  const auto expected = with_key<TypeParam>(text);
  EXPECT_EQ(with_key<TypeParam>("alice"), expected);
  EXPECT_EQ(with_key<TypeParam>(std::string_view(text)), expected);
  EXPECT_EQ(with_key<TypeParam>(bytes), expected);
  EXPECT_EQ(with_key<TypeParam>(std::vector(bytes.begin(), bytes.end())), expected);
  EXPECT_NE(with_key<TypeParam>("alicf"), expected);
  EXPECT_NE(with_key<TypeParam>(std::string_view("alice\0", 6)), expected);
  EXPECT_EQ(with_key<TypeParam>(""), with_key<TypeParam>(std::string_view()));
}

TYPED_TEST(contract, a_number_is_one_key_in_every_width) {
  // The eight little-endian bytes of the value, so that a writer in another language can match it.
  const auto five = with_key<TypeParam>(std::string_view("\5\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(with_key<TypeParam>(std::int8_t{5}), five);
  EXPECT_EQ(with_key<TypeParam>(std::uint16_t{5}), five);
  EXPECT_EQ(with_key<TypeParam>(5), five);
  EXPECT_EQ(with_key<TypeParam>(5U), five);
  EXPECT_EQ(with_key<TypeParam>(5L), five);
  EXPECT_EQ(with_key<TypeParam>(std::uint64_t{5}), five);
  EXPECT_NE(with_key<TypeParam>("5"), five);
  const auto minus_two =
      with_key<TypeParam>(std::string_view("\xfe\xff\xff\xff\xff\xff\xff\xff", 8));
  EXPECT_EQ(with_key<TypeParam>(std::int8_t{-2}), minus_two);
  EXPECT_EQ(with_key<TypeParam>(-2), minus_two);
  EXPECT_EQ(with_key<TypeParam>(-2LL), minus_two);
  EXPECT_NE(with_key<TypeParam>(0xfffffffeU), minus_two);
  EXPECT_EQ(with_key<TypeParam>(0x0102),
            with_key<TypeParam>(std::string_view("\2\1\0\0\0\0\0\0", 8)));
}

TYPED_TEST(contract, an_empty_filter_says_that_it_is_empty) {
  for (const std::uint64_t n : {1U, 3U, 1000U}) {
    const auto f = make<TypeParam>(n, 0.01);
    EXPECT_GE(f.capacity(), n);
    EXPECT_EQ(f.size(), 0U);
    EXPECT_EQ(f.estimate_size(), 0);
    EXPECT_EQ(f.current_fpr(), 0);
    EXPECT_GT(f.planned_fpr(), 0);
    EXPECT_LE(f.planned_fpr(), 0.01);
    for (const std::string& key : words("non-member", 100)) EXPECT_FALSE(f.may_contain(key));
  }
}

TYPED_TEST(contract, the_bytes_that_it_says_it_has_are_the_bytes_that_it_writes) {
  const auto f = make<TypeParam>(1000, 0.01);
  EXPECT_EQ(f.size_in_bytes(), payload_bytes(f).size());
}

// The estimate of a filter with n keys has a standard error below 1% of n = 20,000 for every kind
// here (a Bloom filter at its optimum: sqrt(m (e^r - r - 1)) / k with r = kn/m, 37 keys), so that
// 6% are beyond six of them: below 1e-8 a kind.
TYPED_TEST(contract, at_capacity_size_and_rate_are_as_planned) {
  constexpr std::uint64_t n = 20'000;
  auto f = make<TypeParam>(n, 0.01, 77);
  double last_rate = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    f.insert(word("member", i));
    if ((i + 1) % (n / 4) == 0) {
      const auto now = static_cast<double>(i + 1);
      EXPECT_NEAR(f.estimate_size(), now, 0.06 * now);
      EXPECT_NEAR(static_cast<double>(f.size()), now, 0.02 * now);
      EXPECT_GT(f.current_fpr(), last_rate);
      last_rate = f.current_fpr();
    }
  }
  EXPECT_LE(f.current_fpr(), 0.01 * 1.1);
}

TYPED_TEST(contract, an_overfilled_filter_says_so) {
  auto f = make<TypeParam>(10, 0.01);
  const double planned = f.planned_fpr();
  bool refused = false;
  for (std::uint64_t i = 0; i < 30'000 && !refused; ++i) {
    refused = !is_contained(f.insert(word("member", i)));
  }
  if (refused) {
    EXPECT_LE(f.current_fpr(), 1);
    EXPECT_GE(f.size(), 10U);
  } else if (grows<TypeParam>) {
    EXPECT_GE(f.estimate_size(), 24'000);
    EXPECT_LE(f.current_fpr(), 0.01 * 1.1);
  } else {
    // Each of at most 1000 bits was missed by 30,000 keys with a chance of at most e^-30.
    EXPECT_EQ(f.current_fpr(), 1);
    EXPECT_EQ(f.estimate_size(), std::numeric_limits<double>::infinity());
    EXPECT_TRUE(f.may_contain("a non-member"));
  }
  EXPECT_EQ(f.planned_fpr(), planned) << "what was planned does not change";
}

TYPED_TEST(contract, a_full_filter_tells_a_batch_how_far_it_came) {
  auto f = make<TypeParam>(10, 0.01);
  const auto keys = words("member", 5000);
  const auto summary = f.insert(keys);
  EXPECT_EQ(summary.inserted + summary.maybe_present, summary.done);
  for (std::size_t i = 0; i < summary.done; ++i) ASSERT_TRUE(f.may_contain(keys[i])) << i;
  if (summary.done < keys.size()) {
    EXPECT_FALSE(is_contained(summary.stopped_by));
    EXPECT_GE(summary.done, 10U);
  } else {
    EXPECT_TRUE(is_contained(summary.stopped_by));
  }
}

TYPED_TEST(contract, what_cannot_be_planned_is_refused_with_a_sentence) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double fpr : {0.0, 1.0, 2.0, -0.5, nan}) {
    const auto made = TypeParam::make({.capacity = 100, .fpr = fpr});
    ASSERT_FALSE(made) << fpr;
    EXPECT_EQ(made.error().code, errc::invalid_argument) << fpr;
    EXPECT_GT(made.error().message.size(), 20U) << fpr;
  }
  const auto too_many =
      TypeParam::make({.capacity = std::numeric_limits<std::uint64_t>::max(), .fpr = 0.01});
  ASSERT_FALSE(too_many);
  EXPECT_GT(too_many.error().message.size(), 20U);
}

// Merge and intersect ---------------------------------------------------------------------------

template <class F>
class contract_merge : public ::testing::Test {};
TYPED_TEST_SUITE(contract_merge, filter_types_that<can_merge>, filter_names);
template <class F>
class contract_intersect : public ::testing::Test {};
TYPED_TEST_SUITE(contract_intersect, filter_types_that<can_intersect>, filter_names);

template <class F>
F filled(std::string_view prefix, std::uint64_t n, std::uint64_t seed = 0) {
  auto f = make<F>(1000, 0.02, seed);
  for (const std::string& key : words(prefix, n)) f.insert(key);
  return f;
}

TYPED_TEST(contract_merge, a_merge_has_the_keys_of_both_and_does_not_mind_the_order) {
  const auto a = filled<TypeParam>("a", 300);
  const auto b = filled<TypeParam>("b", 400);
  auto ab = filled<TypeParam>("a", 300);
  auto ba = filled<TypeParam>("b", 400);
  value_of(ab.merge(b));
  value_of(ba.merge(a));
  for (const std::string& key : words("a", 300)) EXPECT_TRUE(ab.may_contain(key));
  for (const std::string& key : words("b", 400)) EXPECT_TRUE(ab.may_contain(key));
  for (const std::string& key : words("non-member", 5000)) {
    EXPECT_EQ(ab.may_contain(key), ba.may_contain(key)) << key;
    EXPECT_GE(ab.may_contain(key), a.may_contain(key) || b.may_contain(key)) << key;
  }
  EXPECT_EQ(ab.size(), ba.size());
  EXPECT_NEAR(ab.estimate_size(), 700, 70);
}

TYPED_TEST(contract_merge, merging_an_empty_filter_changes_nothing) {
  auto a = filled<TypeParam>("a", 300);
  const auto before = payload_bytes(a);
  value_of(a.merge(make<TypeParam>(1000, 0.02)));
  EXPECT_EQ(payload_bytes(a), before);
  auto empty = make<TypeParam>(1000, 0.02);
  value_of(empty.merge(a));
  for (const std::string& key : words("a", 300)) EXPECT_TRUE(empty.may_contain(key));
  for (const std::string& key : words("non-member", 5000)) {
    EXPECT_EQ(empty.may_contain(key), a.may_contain(key)) << key;
  }
}

TYPED_TEST(contract_intersect, union_and_intersection_of_bloom_filters_are_those_of_sets) {
  if constexpr (TypeParam::kind == filter_kind::bloom) {
    auto a = filled<TypeParam>("a", 300);
    value_of(a.merge(filled<TypeParam>("a", 300)));
    EXPECT_EQ(payload_bytes(a), payload_bytes(filled<TypeParam>("a", 300))) << "a or a is a";
    value_of(a.intersect(filled<TypeParam>("a", 300)));
    EXPECT_EQ(payload_bytes(a), payload_bytes(filled<TypeParam>("a", 300))) << "a and a is a";
    auto both = filled<TypeParam>("a", 300);
    for (const std::string& key : words("b", 200)) both.insert(key);
    value_of(a.merge(filled<TypeParam>("b", 200)));
    EXPECT_EQ(payload_bytes(a), payload_bytes(both)) << "the filter of the union, bit for bit";
  }
}

TYPED_TEST(contract_intersect, an_intersection_keeps_what_both_have) {
  auto a = filled<TypeParam>("a", 300);
  auto b = filled<TypeParam>("b", 400);
  for (const std::string& key : words("common", 100)) {
    a.insert(key);
    b.insert(key);
  }
  auto ab = filled<TypeParam>("a", 0);
  value_of(ab.merge(a));
  value_of(ab.intersect(b));
  for (const std::string& key : words("common", 100)) EXPECT_TRUE(ab.may_contain(key)) << key;
  for (const std::string& key : words("a", 300)) {
    EXPECT_LE(ab.may_contain(key), a.may_contain(key) && b.may_contain(key)) << key;
  }
  EXPECT_LE(ab.current_fpr(), std::min(a.current_fpr(), b.current_fpr()));
}

TYPED_TEST(contract_merge, filters_that_differ_are_not_combined_and_nothing_changes) {
  auto a = filled<TypeParam>("a", 300);
  const auto before = file_bytes(a);
  const auto refused = [&](const result<void>& done) {
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, errc::incompatible);
    EXPECT_GT(done.error().message.size(), 20U);
    EXPECT_EQ(file_bytes(a), before);
  };
  const auto other_seed = filled<TypeParam>("a", 300, 1);
  const auto other_shape = make<TypeParam>(2000, 0.001);
  refused(a.merge(other_seed));
  // Entries of an expandable filter are at home in one of any shape.
  if constexpr (TypeParam::kind != filter_kind::expandable) refused(a.merge(other_shape));
  if constexpr (intersectable<TypeParam>) {
    refused(a.intersect(other_seed));
    refused(a.intersect(other_shape));
  }
}

// Erase -----------------------------------------------------------------------------------------

template <class F>
class contract_erase : public ::testing::Test {};
TYPED_TEST_SUITE(contract_erase, filter_types_that<can_erase>, filter_names);

TYPED_TEST(contract_erase,
           erasing_every_copy_leaves_an_empty_filter_and_no_member_missing_on_the_way) {
  constexpr std::uint64_t keys = 60;
  auto f = make<TypeParam>(400, 0.01);
  const auto empty = file_bytes(f);
  std::vector<std::uint64_t> copies(keys);
  for (std::uint64_t i = 0; i < keys; ++i) {
    for (std::uint64_t copy = 0; copy <= i % 4; ++copy) {
      ASSERT_TRUE(is_contained(f.insert(i)));
      ++copies[i];
    }
  }
  bool left = true;
  while (left) {
    left = false;
    for (std::uint64_t i = 0; i < keys; ++i) {
      if (copies[i] == 0) continue;
      EXPECT_TRUE(f.erase(i)) << i;
      left |= --copies[i] != 0;
      for (std::uint64_t j = 0; j < keys; ++j) {
        if (copies[j] == 0) continue;
        ASSERT_TRUE(f.may_contain(j)) << j << " after " << i << " was erased";
        if constexpr (countable<TypeParam>) {
          ASSERT_GE(f.count(j), copies[j]) << j << " after " << i << " was erased";
        }
      }
    }
  }
  EXPECT_EQ(file_bytes(f), empty);
}

TYPED_TEST(contract_erase, a_batch_erases_what_single_erases_do) {
  for (const std::size_t n : {0U, 1U, 127U, 128U, 129U, 200U}) {
    auto one_by_one = filled<TypeParam>("a", 300);
    auto batch = filled<TypeParam>("a", 300);
    const auto keys = words("a", n);
    std::uint64_t erased = 0;
    for (const std::string& key : keys) erased += one_by_one.erase(key);
    EXPECT_EQ(erased, n);
    EXPECT_EQ(batch.erase(keys), n);
    EXPECT_EQ(file_bytes(batch), file_bytes(one_by_one)) << n;
  }
}

}  // namespace
}  // namespace bloomset::test
