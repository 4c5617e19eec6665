// The counting Bloom filter's bytes, plan, files and registry row.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bloomset/bloomset.hpp>
#include <initializer_list>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/kinds/counting_bloom/counting_bloom_filters.hpp"
#include "tests/support/words.hpp"

namespace {

using bloomset::counting_bloom;
using bloomset::counting_bloom_params;
using bloomset::counting_bloom_spec;
using bloomset::counting_bloom_view;
using bloomset::errc;
using bloomset::owned_storage;
using bloomset::test::extra;

template <class F>
std::vector<unsigned> bytes_as_numbers(const F& filter) {
  std::vector<unsigned> numbers;
  for (const std::byte byte : filter.bytes()) numbers.push_back(std::to_integer<unsigned>(byte));
  return numbers;
}

// ---- the layout

TEST(counting_bloom, lays_counters_out_from_the_lowest_bit) {
  const auto filled = [](unsigned width) {
    auto f = filter_of({.bits = std::uint64_t{3} * width, .hashes = 1, .counter_bits = width},
                       [](auto x) { return x; });
    for (const int x : {0, 1, 1, 2, 2, 2}) f.insert(x);
    return bytes_as_numbers(f);
  };
  EXPECT_EQ(filled(4), (std::vector<unsigned>{0x21, 0x03}));
  EXPECT_EQ(filled(8), (std::vector<unsigned>{1, 2, 3}));
  EXPECT_EQ(filled(16), (std::vector<unsigned>{1, 0, 2, 0, 3, 0}));
}

template <class Counters>
class counter_arrays : public testing::Test {};
using counter_layouts =
    testing::Types<bloomset::detail::counter_array<4>, bloomset::detail::counter_array<8>,
                   bloomset::detail::counter_array<16>>;
TYPED_TEST_SUITE(counter_arrays, counter_layouts);

// Arrays of every length up to some words, of counters that are mostly at the ends of their range.
template <class Counters, class Use>
void with_arrays(unsigned seed, Use&& use) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> lengths(70);
  std::iota(lengths.begin(), lengths.end(), 1);
  for (const std::uint64_t m : lengths) {
    std::vector<std::byte> bytes(bloomset::detail::bytes_for_bits(m * Counters::width));
    std::vector<unsigned> values(m);
    for (std::uint64_t i = 0; i < m; ++i) {
      const std::array choices = {0U,
                                  1U,
                                  Counters::maximum / 2,
                                  Counters::maximum / 2 + 1,
                                  Counters::maximum - 1,
                                  Counters::maximum};
      values[i] = choices[random() % choices.size()];
      const std::uint64_t at = i * Counters::width;
      for (unsigned bit = 0; bit < Counters::width; bit += 8) {
        bytes[(at + bit) / 8] |= static_cast<std::byte>((values[i] >> bit) << at % 8);
      }
    }
    use(m, bytes, values);
  }
}

template <class Counters>
std::vector<unsigned> values_of(std::span<const std::byte> bytes, std::uint64_t m) {
  std::vector<unsigned> values(m);
  for (std::uint64_t i = 0; i < m; ++i) values[i] = Counters::get(bytes.data(), i);
  return values;
}

TYPED_TEST(counter_arrays, count_from_zero_to_their_maximum) {
  std::vector<std::byte> bytes(bloomset::detail::bytes_for_bits(3 * TypeParam::width));
  for (unsigned n = 1; n <= TypeParam::maximum; ++n) {
    ASSERT_EQ(TypeParam::increment(bytes.data(), 1), n - 1);
    ASSERT_EQ(TypeParam::get(bytes.data(), 1), n);
  }
  EXPECT_EQ(values_of<TypeParam>(bytes, 3), (std::vector<unsigned>{0, TypeParam::maximum, 0}));
}

TYPED_TEST(counter_arrays, count_up_and_down_without_touching_their_neighbours) {
  with_arrays<TypeParam>(
      1, [](std::uint64_t m, std::vector<std::byte>& bytes, std::vector<unsigned>& values) {
        ASSERT_EQ(values_of<TypeParam>(bytes, m), values);
        for (std::uint64_t i = 0; i < m; ++i) {
          const unsigned was = values[i];
          if (was == 0) continue;
          TypeParam::decrement(bytes.data(), i);
          if (was != TypeParam::maximum) --values[i];
          ASSERT_EQ(values_of<TypeParam>(bytes, m), values) << i;
          ASSERT_EQ(TypeParam::increment(bytes.data(), i), values[i]);
          values[i] = was;
          ASSERT_EQ(values_of<TypeParam>(bytes, m), values) << i;
        }
      });
}

TYPED_TEST(counter_arrays, are_counted_word_by_word_as_one_by_one) {
  with_arrays<TypeParam>(2, [](std::uint64_t m, const std::vector<std::byte>& bytes,
                               const std::vector<unsigned>& values) {
    const auto zeros = static_cast<std::uint64_t>(std::count(values.begin(), values.end(), 0U));
    const auto stuck =
        static_cast<std::uint64_t>(std::count(values.begin(), values.end(), TypeParam::maximum));
    EXPECT_EQ(TypeParam::count_non_zero(bytes), m - zeros);
    EXPECT_EQ(TypeParam::count_stuck(bytes), stuck);
  });
}

TYPED_TEST(counter_arrays, add_up_to_their_maximum) {
  std::map<std::uint64_t, std::pair<std::vector<std::byte>, std::vector<unsigned>>> others;
  with_arrays<TypeParam>(
      3, [&](std::uint64_t m, auto& bytes, auto& values) { others[m] = {bytes, values}; });
  with_arrays<TypeParam>(4, [&](std::uint64_t m, auto& bytes, auto& values) {
    TypeParam::add(bytes, others[m].first);
    for (std::uint64_t i = 0; i < m; ++i) {
      values[i] = std::min(TypeParam::maximum, values[i] + others[m].second[i]);
    }
    EXPECT_EQ(values_of<TypeParam>(bytes, m), values);
  });
}

// ---- plans

TEST(counting_bloom_plan, is_a_bloom_filters_times_the_counters_width) {
  for (const unsigned width : widths) {
    const auto plain = bloomset::plan_bloom({.capacity = 1'000'000, .fpr = 0.01});
    const auto counting =
        bloomset::plan_counting_bloom({.capacity = 1'000'000, .fpr = 0.01, .counter_bits = width});
    ASSERT_TRUE(plain && counting);
    EXPECT_EQ(counting->counters(), plain->bits);
    EXPECT_EQ(counting->bits(), plain->bits * width);
    EXPECT_EQ(counting->array.hashes, plain->hashes);
    EXPECT_EQ(counting->array.fpr, plain->fpr);
  }
}

TEST(counting_bloom_plan, any_two_give_the_third) {
  const auto by_rate = bloomset::plan_counting_bloom({.capacity = 5000, .fpr = 0.001});
  ASSERT_TRUE(by_rate);
  const auto by_bits = bloomset::plan_counting_bloom({.capacity = 5000, .bits = by_rate->bits()});
  ASSERT_TRUE(by_bits);
  EXPECT_EQ(by_bits->array.hashes, by_rate->array.hashes);
  EXPECT_LE(by_bits->array.fpr, 0.001);
  const auto by_both = bloomset::plan_counting_bloom({.fpr = 0.001, .bits = by_rate->bits() + 3});
  ASSERT_TRUE(by_both);
  EXPECT_EQ(by_both->counters(), by_rate->counters()) << "three bits over are no counter";
  EXPECT_EQ(by_both->array.capacity, 5000U);
}

TEST(counting_bloom_plan, refuses_with_a_sentence) {
  const auto refused = [](const counting_bloom_spec& spec, const std::string& why) {
    const auto plan = bloomset::plan_counting_bloom(spec);
    ASSERT_FALSE(plan) << why;
    EXPECT_EQ(plan.error().code, errc::invalid_argument);
    EXPECT_NE(plan.error().message.find(why), std::string::npos) << plan.error().message;
  };
  for (const unsigned width : {0U, 1U, 5U, 32U}) {
    refused({.capacity = 10, .fpr = 0.01, .counter_bits = width}, "give 4, 8 or 16");
  }
  refused({}, "give two of");
  refused({.bits = 8000}, "a Bloom filter's size is not determined");
  refused({.fpr = 0.01, .bits = 3}, "do not hold a single counter");
  refused({.capacity = 1000, .fpr = 0.01, .bits = 8000}, "8,000 bits are 2,000 when each");
  refused({.capacity = 10, .bits = ~std::uint64_t{0}}, "2^62");
  // An array of less than 2^62 places, whose counters together need more.
  refused({.capacity = std::uint64_t{1} << 57, .fpr = 0.03, .counter_bits = 16}, "2^62");
}

// ---- stored filters

TEST(counting_bloom, a_saved_filter_answers_and_counts_as_before) {
  for (const unsigned width : widths) {
    counting_bloom filter({.capacity = 301, .fpr = 0.01, .seed = 9, .counter_bits = width});
    for (int i = 0; i < 301; ++i) {
      for (int copy = 0; copy <= i % 20; ++copy) filter.insert(i);
    }
    const auto path = testing::TempDir() + "/counting_bloom_test.bloom";
    ASSERT_TRUE(bloomset::save(filter, path));
    const auto view = bloomset::open<counting_bloom_view>(path);
    ASSERT_TRUE(view) << view.error().message;
    auto again = bloomset::open<counting_bloom>(path);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(view->size(), filter.size());
    EXPECT_EQ(view->current_fpr(), filter.current_fpr());
    EXPECT_EQ(view->stuck_counters(), filter.stuck_counters());
    for (int i = 0; i < 2000; ++i) {
      ASSERT_EQ(view->count(i), filter.count(i));
      ASSERT_EQ(view->may_contain(i), filter.may_contain(i));
    }
    EXPECT_TRUE(again->erase(5));
    EXPECT_TRUE(filter.erase(5));
    EXPECT_EQ(bloomset::serialize(again->image()), bloomset::serialize(filter.image()));
    ASSERT_TRUE(again->merge(*view)) << "the mapped filter as the other";
    EXPECT_EQ(again->size(), filter.size() + view->size());
    EXPECT_EQ(bloomset::open<bloomset::bloom_view>(path).error().code, errc::incompatible);
  }
}

constexpr counting_bloom_params sound = {
    .array = {.capacity = 1, .fpr = 0.5, .bits = 3, .hashes = 2}, .counter_bits = 4};

TEST(counting_bloom, refuses_hostile_parameters) {
  std::vector<counting_bloom_params> hostile;
  const auto with = [&](auto change) {
    counting_bloom_params params = sound;
    change(params);
    hostile.push_back(params);
  };
  for (const unsigned width : {0U, 1U, 2U, 5U, 12U, 32U, 64U, ~0U}) {
    with([&](auto& p) { p.counter_bits = width; });
  }
  for (const unsigned width : widths) {
    with([&](auto& p) { p.counter_bits = width, p.array.bits = 0; });
    with([&](auto& p) { p.counter_bits = width, p.array.bits = bloomset::max_bits / width + 1; });
    // The bits of all counters are 2^64, or 2^64 + 16: wrapped, an empty or a tiny payload would
    // fit.
    with([&](auto& p) { p.counter_bits = width, p.array.bits = (~std::uint64_t{0} / width) + 1; });
    with([&](auto& p) { p.counter_bits = width, p.array.bits = (~std::uint64_t{0} / width) + 2; });
    with([&](auto& p) { p.counter_bits = width, p.array.bits = ~std::uint64_t{0}; });
  }
  with([](auto& p) { p.array.hashes = 0; });
  with([](auto& p) { p.array.hashes = bloomset::max_hash_functions + 1; });
  for (const auto& params : hostile) {
    const auto decoded = counting_bloom_params::decode(
        {bloomset::filter_kind::counting_bloom, 1, bloomset::hash_id::xxh3_64, 0, 0},
        params.encode());
    ASSERT_FALSE(decoded) << params.array.bits << " x " << params.counter_bits;
    EXPECT_EQ(decoded.error().code, errc::corrupt);
    for (const std::uint64_t payload : {0U, 2U, 16U}) {
      const auto opened = counting_bloom::open(params, *owned_storage::make(payload), 0);
      ASSERT_FALSE(opened) << params.array.bits << " x " << params.counter_bits;
      EXPECT_EQ(opened.error().code, errc::corrupt);
    }
  }
}

TEST(counting_bloom, refuses_a_payload_that_does_not_fit) {
  const auto opened = [](std::initializer_list<unsigned> bytes) {
    auto memory = *owned_storage::make(bytes.size());
    std::size_t at = 0;
    for (const unsigned byte : bytes) memory.writable_bytes()[at++] = static_cast<std::byte>(byte);
    return counting_bloom::open(sound, std::move(memory), 0);
  };
  EXPECT_TRUE(opened({0xff, 0x0f}));
  EXPECT_EQ(opened({0xff, 0x10}).error().code, errc::corrupt) << "the padding nibble";
  EXPECT_EQ(opened({0xff}).error().code, errc::corrupt);
  EXPECT_EQ(opened({0xff, 0x0f, 0}).error().code, errc::corrupt);
  EXPECT_EQ(opened({}).error().code, errc::corrupt);
}

// ---- the registry's row

TEST(counting_bloom_kind, reports_its_plan) {
  const auto* row = *bloomset::find_kind("counting_bloom");
  const auto plan = row->plan({.capacity = 1'000'000, .fpr = 0.01, .options = {}});
  ASSERT_TRUE(plan) << plan.error().message;
  const auto plain =
      (*bloomset::find_kind("bloom"))->plan({.capacity = 1'000'000, .fpr = 0.01, .options = {}});
  EXPECT_EQ(plan->bits, 4 * plain->bits);
  EXPECT_EQ(extra<double>(plan->extras, "times_bloom"), 4.0);
  EXPECT_EQ(extra<std::uint64_t>(plan->extras, "counters"), plain->bits);
  EXPECT_EQ(extra<std::uint64_t>(plan->extras, "counter_bits"), 4U);
  const auto overflow = extra<double>(plan->extras, "overflow_bound");
  EXPECT_GT(extra<double>(plan->extras, "stuck_bound"), overflow);
  // k = 7 is a little more than the optimum for this rate, 6.65, where it is 1.37e-15: k n / m is
  // 0.73 and not 0.69, and (0.73 / 0.69)^16 = 2.3.
  const double of_one = overflow / static_cast<double>(plain->bits);
  EXPECT_GT(of_one, 2 * 1.37e-15);
  EXPECT_LT(of_one, 2.5 * 1.37e-15);
  const auto wide = row->plan({.capacity = 10, .fpr = 0.01, .options = {{"counter_bits", "16"}}});
  ASSERT_TRUE(wide);
  EXPECT_EQ(extra<double>(wide->extras, "times_bloom"), 16.0);
  for (const std::string wrong : {"5", "four", "-4", "0"}) {
    const auto refused =
        row->create({.capacity = 10, .fpr = 0.01, .options = {{"counter_bits", wrong}}});
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().code, errc::invalid_argument);
  }
}

TEST(counting_bloom_kind, serves_any_filter) {
  const auto* row = *bloomset::find_kind("counting_bloom");
  const std::vector<std::string_view> keys = {"a", "b", "a", "c", "a"};
  auto made = row->create({.capacity = 100, .fpr = 0.001});
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_TRUE(made->insert(keys));
  const auto path = testing::TempDir() + "/counting_kind.bloom";
  ASSERT_TRUE(bloomset::save(*made, path));
  const auto mapped = bloomset::open(path);
  ASSERT_TRUE(mapped) << mapped.error().message;
  EXPECT_TRUE(mapped->can().count);
  EXPECT_FALSE(mapped->can().erase);
  std::array<std::uint64_t, 5> counts{};
  ASSERT_TRUE(mapped->count(keys, counts));
  EXPECT_EQ(counts, (std::array<std::uint64_t, 5>{3, 1, 3, 1, 3}));

  auto loaded = bloomset::load(path);
  ASSERT_TRUE(loaded && loaded->merge(*mapped));
  EXPECT_EQ(loaded->size(), 10U);
  std::array<bool, 5> erased{};
  ASSERT_TRUE(loaded->erase(keys, erased));
  ASSERT_TRUE(loaded->count(keys, counts));
  EXPECT_EQ(counts, (std::array<std::uint64_t, 5>{3, 1, 3, 1, 3}));
  EXPECT_FALSE(loaded->intersect(*mapped));
  const auto info = loaded->info();
  EXPECT_EQ(extra<std::uint64_t>(info.extras, "stuck_counters"), 0U);
  EXPECT_EQ(info.plan.bits, (info.plan.bytes * 8) - info.plan.bits % 8);
}

}  // namespace
