// Folding: the filter of 1/factor of the size that has the same keys.

#include <gtest/gtest.h>

#include <algorithm>
#include <bloomset/bloomset.hpp>
#include <bloomset/detail/core/bloom_sets.hpp>
#include <cmath>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/support/function_family.hpp"

#include "tests/support/filter_types.hpp"

namespace bloomset::test {
namespace {

std::vector<std::uint64_t> keys_from(std::uint64_t first, std::size_t n) {
  std::vector<std::uint64_t> keys(n);
  for (std::size_t i = 0; i < n; ++i) keys[i] = first + i;
  return keys;
}

template <class F>
std::vector<std::byte> bytes_of_filter(const F& f) {
  return {f.bits().begin(), f.bits().end()};
}

/// A filter of these parameters that the keys were inserted into.
template <class F>
F made(const typename F::params_type& params, const std::vector<std::uint64_t>& keys,
       std::uint64_t bits) {
  auto memory = value_of(owned_storage::make((bits + 7) / 8));
  F f = value_of(F::open(params, std::move(memory), 0));
  f.insert(keys);
  return f;
}

template <class F>
void folds_to_what_is_made(const F& f, const std::vector<std::uint64_t>& keys, std::uint64_t size,
                           std::uint64_t bits_of_one) {
  for (const std::uint64_t factor : detail::divisors_of(size)) {
    const F folded = value_of(f.fold(factor));
    const F same = made<F>(folded.params(), keys, size / factor * bits_of_one);
    ASSERT_EQ(bytes_of_filter(folded), bytes_of_filter(same)) << size << " by " << factor;
    EXPECT_EQ(folded.capacity(), std::max<std::uint64_t>(1, f.capacity() / factor));
    EXPECT_EQ(folded.current_fpr(), same.current_fpr());
    EXPECT_EQ(folded.size(), f.size());
  }
}

TEST(Fold, BlockedFiltersAreThoseMadeAtTheSize) {
  std::mt19937_64 random(1);
  for (const block_layout layout :
       {block_layout::split_512, block_layout::free_512, block_layout::parquet_256}) {
    for (int turn = 0; turn < 12; ++turn) {
      const std::uint64_t blocks = 1 + random() % 700;
      blocked_bloom f({.capacity = 8 * blocks,
                       .bits = blocks * block_bits(layout),
                       .seed = random(),
                       .layout = layout});
      const auto keys = keys_from(random(), 1 + random() % (8 * blocks));
      f.insert(keys);
      folds_to_what_is_made(f, keys, blocks, block_bits(layout));
    }
  }
}

TEST(Fold, BloomFiltersAreThoseMadeAtTheSize) {
  std::mt19937_64 random(2);
  for (int turn = 0; turn < 12; ++turn) {
    const std::uint64_t bits = 1 + random() % 5000;
    bloom f({.bits = bits, .hashes = 1 + static_cast<unsigned>(random() % 12)});
    const auto keys = keys_from(random(), 1 + random() % (1 + bits / 8));
    f.insert(keys);
    folds_to_what_is_made(f, keys, bits, 1);
  }
}

TEST(Fold, TheCallersOwnFunctionsFold) {
  auto f = bloom_of(10, [](auto x) { return x + 3; }, [](auto x) { return 3 * x + 1; });
  f.insert(std::uint64_t{25});
  const auto half = value_of(f.fold(2));
  EXPECT_TRUE(half.may_contain(std::uint64_t{25}));
  EXPECT_EQ(half.ones(), 2U);  // positions 8 and 6 of 10: 3 and 1 of 5
  EXPECT_TRUE(detail::test_bit(half.bits().data(), 3) && detail::test_bit(half.bits().data(), 1));
}

TEST(Fold, CommutesWithMergeAndKeepsMembers) {
  blocked_bloom a({.capacity = 5040, .fpr = 0.01, .foldable = true});
  blocked_bloom b = a;
  a.insert(keys_from(0, 2000));
  b.insert(keys_from(1500, 2000));
  blocked_bloom both = a;
  value_of(both.merge(b));
  const std::uint64_t blocks = a.params().blocks;
  for (const std::uint64_t factor : detail::divisors_of(blocks)) {
    blocked_bloom folded = value_of(a.fold(factor));
    value_of(folded.merge(value_of(b.fold(factor))));
    EXPECT_EQ(bytes_of_filter(folded), bytes_of_filter(value_of(both.fold(factor))));
    for (std::uint64_t key = 0; key < 3500; ++key) ASSERT_TRUE(folded.may_contain(key));
  }
}

template <class F>
void is_the_smallest(const F& f, std::uint64_t size, double fpr) {
  const F folded = value_of(f.fold_to(fpr));
  EXPECT_LE(folded.current_fpr(), fpr);
  EXPECT_GE(static_cast<double>(folded.capacity()), 0.98 * folded.estimate_size());
  EXPECT_LE(folded.planned_fpr(), fpr);
  const std::uint64_t factor = f.params().bits() / folded.params().bits();
  for (const std::uint64_t larger : detail::divisors_of(size)) {
    if (larger <= factor) continue;
    // A larger factor gives a higher rate, or within 1% of the keys no fewer bits.
    const F smaller = value_of(f.fold(larger));
    EXPECT_GT(smaller.current_fpr(), 0.97 * fpr) << larger << " instead of " << factor;
    break;
  }
}

TEST(Fold, TheSmallestOfARateIsFound) {
  for (const std::uint64_t n : {0U, 1U, 2U, 30U, 500U, 9000U, 40'000U, 99'000U}) {
    blocked_bloom f({.capacity = 100'000, .fpr = 0.01, .foldable = true});
    f.insert(keys_from(n, n));
    for (const double fpr : {0.3, 0.05, 0.0101}) is_the_smallest(f, f.params().blocks, fpr);
  }
}

TEST(Fold, TheSmallestOfARateIsFoundOfBloomFilters) {
  for (const std::uint64_t n : {0U, 1U, 300U, 9000U}) {
    bloom f({.capacity = 10'000, .fpr = 0.01, .foldable = true});
    f.insert(keys_from(n, n));
    for (const double fpr : {0.3, 0.0101}) {
      const bloom folded = value_of(f.fold_to(fpr));
      EXPECT_LE(folded.current_fpr(), fpr);
      for (std::uint64_t key = n; key < 2 * n; ++key) ASSERT_TRUE(folded.may_contain(key));
      // At most 12% more bits than the plan for that number of keys: the next divisors of the size
      // differ by no more.
      if (n == 300 && fpr < 0.1) {
        const double exact = static_cast<double>(
            value_of(plan_bloom({.capacity = n, .fpr = fpr, .hashes = folded.params().hashes}))
                .bits);
        EXPECT_LE(static_cast<double>(folded.params().bits), 1.12 * exact);
      }
    }
  }
}

TEST(Fold, FoldableSizesHaveManyDivisorsAndAreHardlyLarger) {
  for (std::uint64_t n = 1; n < std::uint64_t{1} << 60; n += 1 + n / 3) {
    const std::uint64_t size = detail::foldable_size(n);
    EXPECT_GE(size, n);
    EXPECT_LE(size - n, std::max(n / 200, std::min<std::uint64_t>(16, n / 8)));
    if (n >= 300'000 && n < std::uint64_t{1} << 40) {
      EXPECT_GE(detail::divisors_of(size).size(), n < std::uint64_t{1} << 32 ? 80U : 1000U) << size;
    }
  }
  EXPECT_EQ(detail::foldable_size(39), 40U);
  EXPECT_EQ(detail::foldable_size(393), 396U);
  EXPECT_EQ(detail::foldable_size(4600), 4620U);
  EXPECT_EQ(detail::foldable_size(1'000'000'000'000), 1'000'734'134'400U);
  const auto plain = value_of(plan_blocked_bloom({.capacity = 1'000'000, .fpr = 0.01}));
  const auto foldable =
      value_of(plan_blocked_bloom({.capacity = 1'000'000, .fpr = 0.01, .foldable = true}));
  EXPECT_EQ(foldable.blocks, detail::foldable_size(plain.blocks));
}

TEST(Fold, DivisorsAreFoundWithoutTryingEveryFactor) {
  for (std::uint64_t n = 1; n < 2000; ++n) {
    std::vector<std::uint64_t> expected;
    for (std::uint64_t d = 1; d <= n; ++d) {
      if (n % d == 0) expected.push_back(d);
    }
    ASSERT_EQ(detail::divisors_of(n), expected) << n;
  }
  const std::uint64_t prime = (std::uint64_t{1} << 61) - 1;
  EXPECT_EQ(detail::divisors_of(prime), (std::vector<std::uint64_t>{1, prime}));
  EXPECT_EQ(detail::divisors_of(2 * prime), (std::vector<std::uint64_t>{1, 2, prime, 2 * prime}));
  EXPECT_EQ(detail::divisors_of(std::uint64_t{1} << 62).size(), 63U);
  // The largest prime below 2^21: its square is found.
  EXPECT_EQ(detail::divisors_of(std::uint64_t{2097143} * 2097143).size(), 3U);
}

// Bounds that are 2 to 26 times too high: the folded filter has at most 1.25 times the bits of the
// exact plan in the mean.
TEST(Fold, SmallFiltersFoldWell) {
  for (const std::uint64_t n : {100U, 300U, 1000U, 3000U}) {
    const auto exact = value_of(plan_blocked_bloom({.capacity = n, .fpr = 0.01}));
    double sum = 0;
    double filters = 0;
    for (std::uint64_t bound = 2 * n; bound < 26 * n; bound += n / 4, ++filters) {
      blocked_bloom f({.capacity = bound, .fpr = 0.01, .foldable = true});
      f.insert(keys_from(bound, n));
      const auto folded = value_of(f.fold_to(0.01));
      sum += static_cast<double>(folded.params().blocks) / static_cast<double>(exact.blocks);
    }
    EXPECT_LE(sum / filters, 1.25) << n;
  }
}

TEST(Fold, ImpossibleFactorsAndRatesAreRefused) {
  blocked_bloom f({.capacity = 1000, .bits = 512 * 30});
  EXPECT_EQ(f.fold(0).error().code, errc::invalid_argument);
  EXPECT_EQ(f.fold(7).error().message,
            "a filter of 30 blocks cannot be folded by 7; the factor must divide the size");
  EXPECT_FALSE(f.fold(60));
  f.insert(keys_from(0, 1000));
  EXPECT_EQ(f.fold_to(1e-6).error().code, errc::full);
  for (std::uint64_t key = 0; key < 100'000; ++key) f.insert(key);
  EXPECT_EQ(f.fold_to(0.5).error().code, errc::full);
}

TEST(Fold, FoldsOfIntersectionsHaveNoEstimate) {
  blocked_bloom a({.capacity = 40'000, .fpr = 0.01, .foldable = true});
  blocked_bloom b = a;
  a.insert(keys_from(0, 2000));
  b.insert(keys_from(1000, 2000));
  value_of(a.intersect(b));
  // The common keys are the same after a fold.
  const blocked_bloom folded = value_of(a.fold(2));
  EXPECT_NEAR(folded.estimate_size(), a.estimate_size(), 1e-6);
  EXPECT_NEAR(value_of(folded.fold(2)).estimate_size(), a.estimate_size(), 1e-6);
  for (std::uint64_t key = 1000; key < 2000; ++key) EXPECT_TRUE(folded.may_contain(key));
  EXPECT_LE(value_of(a.fold_to(0.02)).current_fpr(), 0.02);
}

TEST(Fold, FiltersOfDifferentSizesAreMergedAtTheirGreatestCommonSize) {
  const kind_info& kind = *value_of(find_kind("blocked_bloom"));
  const auto made = [&](std::uint64_t blocks, std::string_view key) {
    auto f = value_of(kind.create({.capacity = 40 * blocks, .bits = 512 * blocks}));
    value_of(f.insert(std::vector<std::string_view>{key}));
    return f;
  };
  auto united = made(600, "a");
  value_of(merge_folded(united, made(900, "b")));
  EXPECT_EQ(united.info().plan.bits, 300U * 512);
  EXPECT_TRUE(united.may_contain("a") && united.may_contain("b"));
  EXPECT_FALSE(united.may_contain("c"));
  auto full = made(600, "a");
  for (std::uint64_t i = 0; i < 24'000; ++i) {
    const std::string key = std::to_string(i);
    value_of(full.insert(std::vector<std::string_view>{key}));
  }
  const auto before = serialize(full.image());
  const auto refused = merge_folded(full, made(601, "b"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::incompatible);
  EXPECT_TRUE(refused.error().message.starts_with(
      "the filters have 307200 and 307712 bits; folded to 512 bits, the "
      "largest size that divides both, the union would have a rate of 100%"))
      << refused.error().message;
  EXPECT_EQ(serialize(full.image()), before);
  const auto other_seed = value_of(kind.create({.capacity = 40, .bits = 512, .seed = 1}));
  EXPECT_NE(merge_folded(full, other_seed).error().message.find("seed"), std::string::npos);
  // The higher planned rate counts: 300 of 600 blocks suffice for it, or do not.
  const auto planned = [&](std::uint64_t keys) {
    auto f = value_of(kind.create(
        {.capacity = keys, .bits = std::uint64_t{512} * 600, .options = {{"layout", "split"}}}));
    for (std::uint64_t i = 0; i < 15'000; ++i) {
      const std::string key = std::to_string(i);
      value_of(f.insert(std::vector<std::string_view>{key}));
    }
    return f;
  };
  auto small = value_of(kind.create(
      {.capacity = 12'000, .bits = std::uint64_t{512} * 300, .options = {{"layout", "split"}}}));
  value_of(small.insert(std::vector<std::string_view>{"a key, since empty filters do not fold"}));
  auto loose = planned(40'000);
  value_of(merge_folded(loose, small));
  EXPECT_EQ(loose.info().plan.bits, 300U * 512);
  auto strict = planned(20'000);
  EXPECT_EQ(merge_folded(strict, small).error().code, errc::incompatible);
}

TEST(Fold, AnEmptyFilterDoesNotFoldTheOtherAway) {
  constexpr std::uint64_t small = 31;
  constexpr std::uint64_t large = 97;
  for (const kind_info& kind : kinds()) {
    if (!kind.can.fold) continue;
    const auto made = [&](std::uint64_t blocks, bool has_key) {
      auto f = value_of(kind.create({.capacity = 40 * blocks, .bits = 512 * blocks}));
      const std::vector<std::string_view> key = {"a"};
      if (has_key) value_of(f.insert(key));
      return f;
    };
    const auto united = [](any_filter into, const any_filter& other) {
      value_of(merge_folded(into, other));
      return into;
    };
    // Both are empty: the larger stays.
    EXPECT_EQ(united(made(small, false), made(large, false)).capacity(), 40 * large);
    EXPECT_EQ(united(made(large, false), made(small, false)).capacity(), 40 * large);
    // One is empty: the other stays, and can get further keys.
    for (const bool empty_first : {false, true}) {
      const auto f = empty_first ? united(made(large, false), made(small, true))
                                 : united(made(small, true), made(large, false));
      EXPECT_EQ(f.capacity(), 40 * small);
      EXPECT_TRUE(f.may_contain("a") && f.can().insert);
    }
    // Filters of a key each would become one without room.
    auto filter = made(small, true);
    const auto before = serialize(filter.image());
    const auto refused = merge_folded(filter, made(large, true));
    ASSERT_FALSE(refused) << kind.name;
    EXPECT_EQ(refused.error().code, errc::incompatible);
    EXPECT_EQ(serialize(filter.image()), before);
  }
}

TEST(Fold, ThousandsOfSizesMergeToTheFilterOfTheirGreatestCommonSize) {
  const kind_info& kind = *value_of(find_kind("bloom"));
  const auto with_key = [&](std::uint64_t bits, std::uint64_t first, std::uint64_t last) {
    auto f = value_of(kind.create({.capacity = 2000, .bits = bits, .hashes = 2}));
    for (std::uint64_t i = first; i < last; ++i) {
      const std::string key = std::to_string(i);
      value_of(f.insert(std::vector<std::string_view>{key}));
    }
    return f;
  };
  constexpr std::uint64_t common = 512;
  std::vector<std::uint64_t> numbers = keys_from(1, 2000);
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937_64(1));
  any_filter all = with_key(common * numbers[0], numbers[0], numbers[0] + 1);
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    const std::uint64_t n = numbers[i];
    value_of(merge_folded(all, with_key(common * n, n, n + 1), 1));
  }
  all.settle_count();
  any_filter expected = with_key(common, 1, 2001);
  expected.settle_count();
  EXPECT_EQ(all.info().plan.bits, common);
  EXPECT_TRUE(std::ranges::equal(all.image().payload[0], expected.image().payload[0]));
  EXPECT_EQ(all.size(), expected.size());
}

TEST(Fold, AnyFilterFoldsAlsoFromAMappedFile) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "fold.bloom";
  for (const kind_info& kind : kinds()) {
    if (!kind.can.fold) continue;
    auto made = value_of(kind.create({.capacity = 50'000, .fpr = 0.01}));
    const std::vector<std::string_view> keys = {"a", "b", "c"};
    value_of(made.insert(keys));
    value_of(save(made, path));
    const any_filter mapped = value_of(open(path));
    const any_filter folded = value_of(mapped.fold_to(0.01));
    EXPECT_LT(folded.size_in_bytes(), 100U);
    EXPECT_TRUE(folded.may_contain("a") && folded.may_contain("b") && folded.may_contain("c"));
    EXPECT_FALSE(folded.may_contain("x"));
    EXPECT_TRUE(folded.can().insert);  // it has its own memory
  }
  // With 128-bit hashes both halves become equally small.
  auto wide = value_of(
      value_of(find_kind("bloom"))->create({.capacity = 50'000, .fpr = 1e-12, .hash_bits = 128}));
  value_of(wide.insert(std::vector<std::string_view>{"a", "b"}));
  const any_filter folded = value_of(wide.fold_to(1e-12));
  EXPECT_LT(folded.size_in_bytes(), wide.size_in_bytes() / 100);
  EXPECT_TRUE(folded.may_contain("a") && folded.may_contain("b"));
  EXPECT_LE(folded.current_fpr(), 1e-12);
  value_of(save(folded, path));
  EXPECT_TRUE(value_of(open(path)).may_contain("b"));
  for (const kind_info& kind : kinds()) {
    if (kind.can.fold || !kind.can.insert) continue;
    const auto other = value_of(kind.create({.capacity = 100, .fpr = 0.01}));
    EXPECT_EQ(other.fold(1).error().code, errc::unsupported) << kind.name;
    EXPECT_EQ(other.fold_to(0.5).error().code, errc::unsupported) << kind.name;
  }
}

// A filter of a few keys in much memory has fewer keys per part than one.
TEST(fold, a_capacity_never_becomes_none) {
  const auto path = testing::TempDir() + "/small_fold.bloom";
  for (const std::string_view kind : {"bloom", "blocked_bloom"}) {
    any_filter filter =
        value_of(value_of(find_kind(kind))->create({.capacity = 5, .bits = 65536 * 9}));
    const std::vector<std::string_view> keys = {"a", "b"};
    value_of(filter.insert(keys));
    const any_filter folded = value_of(filter.fold(8));
    EXPECT_EQ(folded.capacity(), 1U);
    value_of(save(folded, path));
    EXPECT_TRUE(value_of(open(path)).may_contain("a"));
  }
  any_filter wide = value_of(value_of(find_kind("bloom"))
                                 ->create({.capacity = 1000,
                                           .fpr = 1e-12,
                                           .hash_bits = 128,
                                           .options = {{"foldable", "yes"}}}));
  const std::vector<std::string> members = words("member", 40);
  value_of(wide.insert(std::vector<std::string_view>(members.begin(), members.end())));
  const any_filter small = value_of(wide.fold_to(0.01));
  EXPECT_GE(small.capacity(), members.size());
  value_of(save(small, path));
  EXPECT_TRUE(value_of(open(path)).may_contain("member-0"));
}

}  // namespace
}  // namespace bloomset::test
