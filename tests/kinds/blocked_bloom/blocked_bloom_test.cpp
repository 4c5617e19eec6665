// Blocked Bloom filters: each layout bit for bit, the same in every kernel: key by key, in batches,
// by region and with threads. The plan's formulas agree with the sums that define them.

#include <bloomset/blocked_bloom.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bloomset/detail/blocked_bloom/kernels.hpp>
#include <bloomset/detail/blocked_bloom/layout.hpp>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "tests/support/filter_types.hpp"
#include "tests/support/instruction_sets.hpp"

namespace bloomset::test {
namespace {

constexpr std::array layouts = {block_layout::split_512, block_layout::free_512,
                                block_layout::parquet_256};

std::vector<hash64> random_hashes(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 next(seed);
  std::vector<hash64> all(n);
  for (hash64& h : all) h.value = next();
  return all;
}

/// The bits of a filter with one key, as places in the whole array.
std::vector<std::uint64_t> places_of(hash64 h, block_layout layout, std::uint64_t blocks,
                                     unsigned hashes = 0) {
  auto filter = value_of(blocked_bloom::make(
      {.capacity = 1, .bits = blocks * block_bits(layout), .hashes = hashes, .layout = layout}));
  filter.insert(h);
  std::vector<std::uint64_t> places;
  for (std::uint64_t p = 0; p < filter.params().bits(); ++p) {
    if ((std::to_integer<unsigned>(filter.bits()[p / 8]) >> (p % 8) & 1) != 0) places.push_back(p);
  }
  return places;
}

// The table of Parquet's specification of split blocks: XXH64 of "word0", "word42" and the
// little-endian int32 1, in 32 blocks.
TEST(blocked_bloom, the_parquet_layout_is_parquets) {
  struct vector {
    std::uint64_t hash;
    std::uint64_t block;
    std::array<std::uint32_t, 8> words;
  };
  const vector vectors[] = {
      {0x0de5b97b1b84df08,
       1,
       {0x08000000, 0x00000080, 0x00000040, 0x00000010, 0x00002000, 0x00200000, 0x00000001,
        0x00100000}},
      {0x9ad74bbd3b5c0c72,
       19,
       {0x04000000, 0x20000000, 0x00080000, 0x04000000, 0x00200000, 0x10000000, 0x00000400,
        0x02000000}},
      {0xf42f94001fcb5351,
       30,
       {0x00000004, 0x04000000, 0x00004000, 0x00000004, 0x04000000, 0x00002000, 0x02000000,
        0x00000800}},
  };
  for (const vector& v : vectors) {
    auto filter = value_of(blocked_bloom::make(
        {.capacity = 1, .bits = 32 * 256, .layout = block_layout::parquet_256}));
    filter.insert(hash64{v.hash});
    std::array<std::uint32_t, 8> words{};
    std::memcpy(words.data(), filter.bits().data() + v.block * 32, 32);
    EXPECT_EQ(words, v.words);
    EXPECT_EQ(detail::take_census(
                  {const_cast<std::byte*>(filter.bits().data()), 32, block_layout::parquet_256, 8})
                  .ones,
              8U);
  }
}

// The definitions of docs/reference/format.md, computed with nothing of the library.
TEST(blocked_bloom, bits_are_where_the_format_says) {
  __extension__ using wide = unsigned __int128;
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
  for (const hash64 h : random_hashes(200, 1)) {
    constexpr std::uint64_t blocks = 77;
    const auto block = static_cast<std::uint64_t>((wide{h.value} * blocks) >> 64);
    std::vector<std::uint64_t> split;
    for (unsigned j = 0; j < 8; ++j) {
      split.push_back(block * 512 + 64 * j + (h.value * golden >> (6 * j)) % 64);
    }
    EXPECT_EQ(places_of(h, block_layout::split_512, blocks), split);
    std::vector<std::uint64_t> free;
    std::uint64_t x = h.value;
    for (unsigned i = 0; i < 11; ++i) {
      x *= golden;
      free.push_back(block * 512 + (x >> 55));
    }
    std::sort(free.begin(), free.end());
    free.erase(std::unique(free.begin(), free.end()), free.end());
    EXPECT_EQ(places_of(h, block_layout::free_512, blocks, 11), free);
  }
}

/// The answer of the scalar form, whatever the program is compiled for.
bool by_specification(const blocked_bloom& filter, hash64 h) {
  const blocked_bloom_params& params = filter.params();
  return detail::with_layout(params.layout, [&](auto layout) {
    return layout.test(
        filter.bits().data() + layout.block_of(h, params.blocks) * layout.block_bytes, h,
        params.hashes);
  });
}

struct layout_of_test : ::testing::TestWithParam<block_layout> {
  static blocked_bloom make(std::uint64_t bits, unsigned hashes = 0) {
    const bool any = GetParam() == block_layout::free_512;
    return value_of(blocked_bloom::make({.capacity = bits / 12 + 1,
                                         .bits = bits,
                                         .hashes = any ? hashes : 0,
                                         .layout = GetParam()}));
  }
};

TEST_P(layout_of_test, every_kernel_sets_the_same_bits_and_gives_the_same_answers) {
  const auto members = random_hashes(3000, 2);
  auto asked = random_hashes(5000, 3);
  asked.insert(asked.end(), members.begin(), members.begin() + 1001);
  for (const unsigned hashes : {1U, 5U, 8U, 9U, 16U, 24U}) {
    auto one_by_one = make(40'000, hashes);
    std::uint64_t fresh = 0;
    for (const hash64 h : members) fresh += one_by_one.insert(h) == insert_outcome::inserted;
    with_each_instruction_set([&] {
      auto batch = make(40'000, hashes);
      const insert_summary done = batch.insert(members);
      EXPECT_EQ(done.inserted, fresh);
      EXPECT_EQ(done.done, members.size());
      EXPECT_EQ(file_bytes(batch), file_bytes(one_by_one));
      auto single = make(40'000, hashes);
      std::uint64_t fresh_here = 0;
      for (const hash64 h : members) fresh_here += single.insert(h) == insert_outcome::inserted;
      EXPECT_EQ(fresh_here, fresh);
      EXPECT_EQ(file_bytes(single), file_bytes(one_by_one));
      auto distinct = make(40'000, hashes);
      distinct.insert_distinct(members);
      EXPECT_EQ(distinct.size(), members.size());
      EXPECT_EQ(payload_bytes(distinct), payload_bytes(one_by_one));
      for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{95}, std::size_t{96},
                                  std::size_t{97}, asked.size()}) {
        const auto answers = std::make_unique<bool[]>(asked.size());
        batch.may_contain(std::span(asked).first(n), std::span(answers.get(), n));
        for (std::size_t i = 0; i < n; ++i) {
          ASSERT_EQ(answers[i], by_specification(one_by_one, asked[i])) << i << " of " << n;
          ASSERT_EQ(answers[i], single.may_contain(asked[i])) << i << " of " << n;
        }
      }
    });
  }
}

// More than four second-level caches, and several chunks of keys for two threads and for three.
TEST_P(layout_of_test, large_batches_by_region_and_by_threads_are_as_one_by_one) {
  constexpr std::uint64_t bits = std::uint64_t{32} << 23;
  constexpr std::size_t n = 3'200'000;
  const auto members = random_hashes(n, 4);
  auto one_by_one = make(bits, 6);
  for (const hash64 h : members) one_by_one.insert(h);
  auto bulk = make(bits, 6);
  EXPECT_EQ(bulk.insert(members).inserted, one_by_one.size());
  EXPECT_EQ(payload_bytes(bulk), payload_bytes(one_by_one));
  auto distinct = make(bits, 6);
  distinct.insert_distinct(members);
  EXPECT_EQ(payload_bytes(distinct), payload_bytes(one_by_one));
  for (const unsigned threads : {2U, 3U}) {
    auto parallel = make(bits, 6);
    EXPECT_EQ(parallel.insert_parallel(members, threads).inserted, one_by_one.size());
    EXPECT_EQ(payload_bytes(parallel), payload_bytes(one_by_one));
  }
  auto asked = random_hashes(n, 5);
  std::copy_n(members.begin(), n / 3, asked.begin() + n / 2);
  const auto answers = std::make_unique<bool[]>(n);
  for (const unsigned threads : {1U, 2U, 3U}) {
    bulk.may_contain_parallel(asked, std::span(answers.get(), n), threads);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < n; ++i) wrong += answers[i] != one_by_one.may_contain(asked[i]);
    EXPECT_EQ(wrong, 0U) << threads << " threads";
  }
}

// One key in every place: no region's slab has room for what falls to it.
TEST_P(layout_of_test, a_batch_of_one_key_repeated_is_no_trouble) {
  constexpr std::uint64_t bits = std::uint64_t{32} << 23;
  std::vector<hash64> same(3'000'000, hash64{0x0123456789abcdef});
  same.back() = hash64{~std::uint64_t{0}};
  auto filter = make(bits);
  EXPECT_EQ(filter.insert_parallel(same, 2).inserted, 2U);
  auto again = make(bits);
  EXPECT_EQ(again.insert(same).inserted, 2U);
  EXPECT_EQ(payload_bytes(filter), payload_bytes(again));
  const auto answers = std::make_unique<bool[]>(same.size());
  filter.may_contain(same, std::span(answers.get(), same.size()));
  EXPECT_TRUE(std::all_of(answers.get(), answers.get() + same.size(), [](bool a) { return a; }));
}

TEST_P(layout_of_test, distinct_keys_are_inserted_as_others_and_all_counted) {
  const auto keys = words("member", 3000);
  auto distinct = make(40'000);
  distinct.insert_distinct(keys);
  EXPECT_EQ(distinct.size(), keys.size());
  auto counted = make(40'000);
  counted.insert(keys);
  EXPECT_EQ(payload_bytes(distinct), payload_bytes(counted));
}

INSTANTIATE_TEST_SUITE_P(blocked_bloom, layout_of_test, ::testing::ValuesIn(layouts),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST(blocked_bloom, a_concurrent_view_sets_the_same_bits) {
  const auto members = random_hashes(5000, 6);
  for (const block_layout layout : layouts) {
    const blocked_bloom_spec spec{.capacity = 5000, .fpr = 0.01, .layout = layout};
    auto plain = value_of(blocked_bloom::make(spec));
    auto shared = value_of(blocked_bloom::make(spec));
    plain.insert(members);
    auto view = shared.concurrent();
    EXPECT_EQ(view.insert(members).inserted, plain.size());
    EXPECT_EQ(file_bytes(shared), file_bytes(plain));
    EXPECT_TRUE(view.may_contain(members.front()));
    const auto non_members = random_hashes(1000, 7);
    for (const hash64 h : non_members) EXPECT_EQ(view.may_contain(h), plain.may_contain(h));
  }
}

// The closed forms are the sums over i, the number of keys in the non-member's block, that define
// them; here summed as they stand.
TEST(blocked_bloom_plan, the_rate_is_the_mean_over_unequal_blocks) {
  const auto sum_over_loads = [](double n, double blocks, auto&& rate_at) {
    double sum = 0;
    double chance = std::exp(n * std::log1p(-1 / blocks));
    for (int i = 0; i <= static_cast<int>(n) && i < 2000; ++i) {
      sum += chance * rate_at(i);
      chance *= (n - i) / (i + 1) / (blocks - 1);
    }
    return sum;
  };
  for (const double n : {3.0, 40.0, 1000.0, 1e5}) {
    for (const double blocks : {2.0, 21.0, 1973.0}) {
      if (n / blocks > 600) continue;
      const auto whole = static_cast<std::uint64_t>(blocks);
      for (const unsigned w : {32U, 64U}) {
        const double expected = sum_over_loads(
            n, blocks, [w](int i) { return std::pow(1 - std::pow(1 - 1.0 / w, i), 8); });
        EXPECT_NEAR(formulas::split_block_fpr(n, whole, 8, w), expected, 1e-9 * expected + 1e-14);
      }
      for (const unsigned k : {1U, 2U, 6U, 12U}) {
        const double expected =
            sum_over_loads(n, blocks, [k](int i) { return formulas::bloom_fpr(i, 512, k); });
        EXPECT_NEAR(formulas::free_block_fpr(n, whole, 512, k), expected, 5e-5 * expected + 1e-12);
      }
    }
  }
}

// algorithms of the literature sized by the classic formula deliver 1.15% at a 1% request.
TEST(blocked_bloom_plan, refuses_layouts_that_do_not_exist) {
  alignas(64) const std::array<std::byte, 64> bytes{};
  for (const auto layout : {block_layout{4}, block_layout{9}}) {
    const auto made = blocked_bloom::make({.capacity = 1000, .fpr = 0.01, .layout = layout});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, errc::invalid_argument);
  }
  for (const auto layout : {block_layout{}, block_layout{4}, block_layout{9}}) {
    const blocked_bloom_params params{
        .capacity = 1, .fpr = 0.01, .blocks = 1, .hashes = 8, .layout = layout};
    const auto opened = blocked_bloom_view::open(params, mapped_storage(nullptr, bytes), 0);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, errc::invalid_argument);
  }
}

TEST(blocked_bloom_plan, one_percent_takes_ten_and_a_tenth_bits_a_key) {
  const auto plan = value_of(plan_blocked_bloom({.capacity = 100'000'000, .fpr = 0.01}));
  EXPECT_EQ(plan.layout, block_layout::split_512);
  EXPECT_LE(static_cast<double>(plan.bits()) / 1e8, 10.12);
  EXPECT_LE(plan.fpr, 0.01);
  EXPECT_GE(plan.fpr, 0.00996);
}

TEST(blocked_bloom_plan, a_thousand_million_addresses_in_a_gigabyte) {
  const auto plan =
      value_of(plan_blocked_bloom({.capacity = 1'000'000'000, .bits = 8'000'000'000}));
  EXPECT_EQ(plan.layout, block_layout::free_512);
  EXPECT_EQ(plan.hashes, 5U);
  EXPECT_NEAR(plan.fpr, 0.02326, 0.00001);
}

TEST(blocked_bloom_plan, any_two_give_the_third_again) {
  for (const double eps : {0.3, 0.1, 0.01, 0.001, 0.0001, 1e-6, 1e-8}) {
    for (const std::uint64_t n : {1U, 7U, 1000U, 100'003U, 10'000'000U}) {
      const auto plan = value_of(plan_blocked_bloom({.capacity = n, .fpr = eps}));
      EXPECT_LE(plan.fpr, eps) << n;
      const auto keys = value_of(plan_blocked_bloom({.fpr = eps, .bits = plan.bits()}));
      EXPECT_GE(keys.capacity, n) << eps;
      EXPECT_LE(keys.fpr, eps) << n;
      const auto rate = value_of(plan_blocked_bloom({.capacity = n, .bits = plan.bits()}));
      EXPECT_LE(rate.fpr, eps * 1.05) << n << ' ' << eps;
      if (plan.blocks > 1) {
        EXPECT_GT(
            blocked_bloom_fpr(static_cast<double>(n), plan.layout, plan.blocks - 1, plan.hashes),
            eps * 0.997)
            << "a block less would do";
      }
    }
  }
}

TEST(blocked_bloom_plan, what_is_not_sufficient_or_cannot_be_is_refused) {
  const auto refused = [](const blocked_bloom_spec& spec) {
    const auto plan = plan_blocked_bloom(spec);
    return !plan && plan.error().code == errc::invalid_argument && !plan.error().message.empty();
  };
  EXPECT_TRUE(refused({}));
  EXPECT_TRUE(refused({.capacity = 10}));
  EXPECT_TRUE(refused({.capacity = 10, .fpr = 1.0}));
  EXPECT_TRUE(refused({.capacity = 10, .fpr = -0.1}));
  EXPECT_TRUE(refused({.capacity = 10, .fpr = std::nan("")}));
  EXPECT_TRUE(refused({.capacity = 10, .fpr = 1e-12}));
  EXPECT_TRUE(refused({.capacity = std::uint64_t{1} << 60, .fpr = 0.01}));
  EXPECT_TRUE(refused({.capacity = 10, .bits = ~std::uint64_t{0}}));
  EXPECT_TRUE(refused({.capacity = 10, .fpr = 0.01, .hashes = 25}));
  EXPECT_TRUE(
      refused({.capacity = 10, .fpr = 0.01, .hashes = 6, .layout = block_layout::parquet_256}));
  EXPECT_TRUE(refused({.capacity = 1000, .fpr = 0.01, .bits = 2000}));
  EXPECT_TRUE(refused(
      {.capacity = std::uint64_t{1} << 50, .fpr = 0.01, .layout = block_layout::parquet_256}));
}

}  // namespace
}  // namespace bloomset::test
