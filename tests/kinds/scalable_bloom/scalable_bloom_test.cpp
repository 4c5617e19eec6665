// The scalable Bloom filter: the paper's series, growth in lockstep with a real set, limits, and
// its registry row. Rate and files are in scalable_bloom_rate_test.cpp and
// scalable_bloom_file_test.cpp.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <bloomset/bloomset.hpp>
#include <bloomset/memory_source.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "tests/support/words.hpp"

namespace {

using bloomset::bloom_params;
using bloomset::errc;
using bloomset::hash64;
using bloomset::insert_outcome;
using bloomset::scalable_bloom;
using bloomset::scalable_bloom_params;
using bloomset::scalable_bloom_spec;
using bloomset::test::extra;

/// A plan with as many members as possible, up to `most`.
scalable_bloom_params planned(const scalable_bloom_spec& spec, std::size_t most) {
  auto params = bloomset::plan_scalable_bloom(spec).value();
  while (params.members.size() < most) {
    const auto next = bloomset::plan_next_member(params);
    if (!next) break;
    params.members.push_back(*next);
  }
  return params;
}

double compound(const scalable_bloom_params& params) {
  double passes_none = 0;
  for (const bloom_params& member : params.members) passes_none += std::log1p(-member.fpr);
  return -std::expm1(passes_none);
}

hash64 nth(std::uint64_t i) {
  return {bloomset::detail::remix64(i + 1)};
}

std::vector<hash64> hashes(std::uint64_t first, std::uint64_t n) {
  std::vector<hash64> all;
  for (std::uint64_t i = first; i < first + n; ++i) all.push_back(nth(i));
  return all;
}

// --- the plan ---

TEST(scalable_bloom_plan, members_follow_the_papers_series) {
  const auto params = planned({.capacity = 1000, .fpr = 0.01, .growth = 2, .tightening = 0.5}, 12);
  ASSERT_EQ(params.members.size(), 12U);
  for (std::size_t i = 0; i < params.members.size(); ++i) {
    const bloom_params& member = params.members[i];
    EXPECT_EQ(member.capacity, 1000U << i);
    const double series = 0.01 * 0.5 * std::pow(0.5, static_cast<double>(i));
    EXPECT_LE(member.fpr, series);
    EXPECT_GE(member.fpr, 0.98 * series);  // 1/64 of the rate is kept for equal hashes
    // At least the textbook's bits per key, and at most 2% more.
    const double bits_per_key =
        static_cast<double>(member.bits) / static_cast<double>(member.capacity);
    EXPECT_LE(bloomset::formulas::ideal_fpr(bits_per_key), series);
    EXPECT_GE(bloomset::formulas::ideal_fpr(bits_per_key / 1.02), series);
  }
}

TEST(scalable_bloom_plan, capacities_are_rounded_up_but_whole_products_are_not) {
  const auto params = planned({.capacity = 10, .fpr = 0.01, .growth = 1.1}, 5);
  std::vector<std::uint64_t> capacities;
  for (const auto& member : params.members) capacities.push_back(member.capacity);
  EXPECT_EQ(capacities, (std::vector<std::uint64_t>{10, 11, 13, 14, 15}));
}

TEST(scalable_bloom_plan, the_compound_rate_is_within_the_requested_one_to_the_very_limit) {
  for (const double fpr : {0.9, 0.1, 0.01, 1e-6, 1e-9}) {
    for (const double growth : {1.0, 1.2, 2.0, 10.0, 65536.0}) {
      for (const double tightening : {0.01, 0.5, 0.85, 0.99}) {
        SCOPED_TRACE(fmt::format("rate {} growth {} tightening {}", fpr, growth, tightening));
        const auto params =
            planned({.capacity = 1, .fpr = fpr, .growth = growth, .tightening = tightening}, 256);
        EXPECT_LE(compound(params), fpr);
        std::uint64_t keys = 0;
        for (const auto& member : params.members) keys += member.capacity;
        EXPECT_EQ(keys, scalable_bloom_limit(params));
        EXPECT_EQ(keys,
                  scalable_bloom_limit(planned(
                      {.capacity = 1, .fpr = fpr, .growth = growth, .tightening = tightening}, 1)));
      }
    }
  }
}

TEST(scalable_bloom_plan, growth_does_not_end_where_the_series_falls_below_64_bit_hashes) {
  // By the series alone member 28 would need a rate of 2^-36 for 2^28 keys, which equal hashes
  // exceed.
  const auto params = planned({.capacity = 1, .fpr = 0.01}, 256);
  EXPECT_GE(params.members.size(), 49U);
  EXPECT_GE(scalable_bloom_limit(params), 1'000'000'000'000'000U);
}

TEST(scalable_bloom_plan, finds_what_is_left_open) {
  EXPECT_EQ(bloomset::plan_scalable_bloom({.fpr = 0.01})->capacity, 1024U);
  const auto by_bits = bloomset::plan_scalable_bloom({.fpr = 0.01, .bits = 80'000});
  ASSERT_TRUE(by_bits);
  EXPECT_EQ(by_bits->members.front().bits, 80'000U);
  // A member has half of the rate; Bloom filters of 0.5% have 11.03 bits per key.
  EXPECT_NEAR(80'000 / static_cast<double>(by_bits->capacity), 11.03, 0.2);
  const auto by_size = bloomset::plan_scalable_bloom({.capacity = 8000, .bits = 80'000});
  ASSERT_TRUE(by_size);
  EXPECT_NEAR(by_size->fpr, 2 * bloomset::formulas::ideal_fpr(10), 0.001);
  EXPECT_LE(compound(planned({.capacity = 8000, .bits = 80'000}, 20)), by_size->fpr);
}

TEST(scalable_bloom_plan, refuses_what_cannot_be_with_a_sentence) {
  const double nan = std::nan("");
  const std::vector<std::pair<scalable_bloom_spec, std::string>> refused = {
      {{}, "rate is missing"},
      {{.capacity = 1000}, "rate is missing"},
      {{.bits = 1000}, "rate is missing"},
      {{.fpr = 1}, "out of range"},
      {{.fpr = -0.1}, "out of range"},
      {{.fpr = nan}, "out of range"},
      {{.fpr = 0.01, .growth = 0.9}, "growth"},
      {{.fpr = 0.01, .growth = 65537}, "growth"},
      {{.fpr = 0.01, .growth = nan}, "growth"},
      {{.fpr = 0.01, .tightening = 0}, "tightening"},
      {{.fpr = 0.01, .tightening = 1}, "tightening"},
      {{.fpr = 0.01, .tightening = nan}, "tightening"},
      {{.capacity = std::uint64_t{1} << 57, .fpr = 0.01}, "64-bit hashes"},
      {{.fpr = 1e-16}, "64-bit hashes"},
      {{.fpr = 0.01, .bits = 3}, "first member"},
      {{.capacity = 1000, .fpr = 0.01, .bits = 3000}, "first member"},
      {{.capacity = 1000, .bits = 1000}, "more memory"},
      {{.fpr = 0.01, .bits = (std::uint64_t{1} << 62) + 1}, "2^62"},
  };
  for (const auto& [spec, part] : refused) {
    const auto plan = bloomset::plan_scalable_bloom(spec);
    ASSERT_FALSE(plan) << part;
    EXPECT_EQ(plan.error().code, errc::invalid_argument) << plan.error().message;
    EXPECT_NE(plan.error().message.find(part), std::string::npos) << plan.error().message;
  }
}

// --- growth, in lockstep with a real set ---

/// What must hold of a filter and the set of keys that were inserted into it.
void check_against(const scalable_bloom& filter, const std::unordered_set<std::uint64_t>& model,
                   std::uint64_t new_ones) {
  RC_ASSERT(filter.size() == new_ones);
  RC_ASSERT(filter.size() <= filter.capacity());
  const auto members = filter.members();
  for (std::size_t i = 0; i + 1 < members.size(); ++i) {
    RC_ASSERT(members[i].size() == members[i].capacity());
  }
  std::vector<hash64> keys;
  for (const std::uint64_t i : model) keys.push_back(nth(i));
  const auto answers = std::make_unique<bool[]>(keys.size());
  filter.may_contain(keys, std::span(answers.get(), keys.size()));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    RC_ASSERT(answers[i]);
    RC_ASSERT(filter.may_contain(keys[i]));
  }
}

TEST(scalable_bloom, never_forgets_a_key_whatever_its_start_and_growth) {
  EXPECT_TRUE(rc::check([] {
    const scalable_bloom_spec spec{
        .capacity = *rc::gen::inRange<std::uint64_t>(1, 200),
        .fpr = *rc::gen::element(0.5, 0.1, 0.01, 1e-5),
        .growth = *rc::gen::element(1.0, 1.3, 2.0, 7.0),
        .tightening = *rc::gen::element(0.05, 0.5, 0.9),
    };
    scalable_bloom by_batch(spec);
    scalable_bloom by_one(spec);
    std::unordered_set<std::uint64_t> model;
    std::uint64_t new_ones = 0;
    for (int round = 0; round < 12; ++round) {
      // Keys from a small range, so that some repeat, within the batch too.
      const auto chosen =
          *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, 1000));
      std::vector<hash64> batch;
      for (const std::uint64_t i : chosen) batch.push_back(nth(i));
      bloomset::insert_summary expected;
      for (const hash64& h : batch) {
        const auto outcome = by_one.insert(h);
        if (!is_contained(outcome)) {
          RC_ASSERT(by_one.size() == scalable_bloom_limit(by_one.params()));
          expected.stopped_by = outcome;
          break;
        }
        const bool is_new = model.insert(chosen[expected.done]).second;
        RC_ASSERT(is_new || outcome == insert_outcome::maybe_present);
        ++expected.done;
        ++(outcome == insert_outcome::inserted ? expected.inserted : expected.maybe_present);
      }
      const auto summary = by_batch.insert(batch);
      RC_ASSERT(summary.done == expected.done);
      RC_ASSERT(summary.inserted == expected.inserted);
      RC_ASSERT(summary.maybe_present == expected.maybe_present);
      RC_ASSERT(summary.stopped_by == expected.stopped_by);
      new_ones += summary.inserted;
    }
    RC_ASSERT(bloomset::serialize(by_batch.image()) == bloomset::serialize(by_one.image()));
    check_against(by_batch, model, new_ones);
  }));
}

TEST(scalable_bloom, a_batch_answers_as_one_by_one) {
  scalable_bloom filter({.capacity = 200'000, .fpr = 0.2});
  const auto keys = hashes(0, 230'000);
  EXPECT_EQ(filter.insert(std::span<const hash64>(keys)).done, keys.size());
  const auto asked = hashes(220'000, 20'007);
  const auto answers = std::make_unique<bool[]>(asked.size());
  filter.may_contain(asked, std::span(answers.get(), asked.size()));
  for (std::size_t i = 0; i < asked.size(); ++i) {
    ASSERT_EQ(answers[i], filter.may_contain(asked[i])) << i;
    ASSERT_TRUE(answers[i] || i >= 10'000) << i;
  }
  scalable_bloom by_one({.capacity = 200'000, .fpr = 0.2});
  for (const hash64& h : keys) by_one.insert(h);
  EXPECT_EQ(bloomset::serialize(filter.image()), bloomset::serialize(by_one.image()));
}

TEST(scalable_bloom, opens_members_as_planned_and_only_for_new_keys) {
  scalable_bloom filter({.capacity = 100, .fpr = 0.001, .growth = 3});
  EXPECT_EQ(filter.capacity(), 100U);
  for (int pass = 0; pass < 3; ++pass) {
    for (int i = 0; i < 100; ++i) filter.insert(i);
  }
  EXPECT_EQ(filter.members().size(), 1U) << "keys that are there take no room";
  for (int i = 0; i < 5000; ++i) filter.insert(i);
  std::vector<std::uint64_t> capacities;
  for (const auto& member : filter.members()) capacities.push_back(member.capacity());
  EXPECT_EQ(capacities, (std::vector<std::uint64_t>{100, 300, 900, 2700, 8100}));
  EXPECT_EQ(filter.capacity(), 12'100U);
  EXPECT_EQ(filter.planned_fpr(), 0.001);
  EXPECT_LE(filter.current_fpr(), 0.001);
  // 5000 keys, of which the members refused as many as were false positives, some 0.1%.
  EXPECT_NEAR(filter.estimate_size(), static_cast<double>(filter.size()), 50);
  EXPECT_NEAR(static_cast<double>(filter.size()), 5000, 25);
}

// --- limits: full, and nothing has changed ---

void expect_full(scalable_bloom& filter, std::uint64_t next) {
  const auto before = bloomset::serialize(filter.image());
  while (filter.may_contain(nth(next))) ++next;  // a non-member that is no false positive
  EXPECT_EQ(filter.insert(nth(next)), insert_outcome::full);
  EXPECT_EQ(filter.insert(nth(0)), insert_outcome::maybe_present);
  const std::vector<hash64> batch = {nth(0), nth(1), nth(next), nth(2)};
  const auto summary = filter.insert(std::span<const hash64>(batch));
  EXPECT_EQ(summary.done, 2U);
  EXPECT_EQ(summary.maybe_present, 2U);
  EXPECT_EQ(summary.inserted, 0U);
  EXPECT_EQ(summary.stopped_by, insert_outcome::full);
  EXPECT_EQ(bloomset::serialize(filter.image()), before);
  EXPECT_FALSE(filter.may_contain(nth(next)));
}

TEST(scalable_bloom_limits, full_where_64_bit_hashes_end_the_promise) {
  scalable_bloom filter({.capacity = 1, .fpr = 1e-12, .growth = 65536});
  const auto keys = hashes(0, 65'537);
  EXPECT_EQ(filter.insert(std::span<const hash64>(keys)).inserted, 65'537U);
  EXPECT_EQ(scalable_bloom_limit(filter.params()), 65'537U);
  expect_full(filter, keys.size());
}

TEST(scalable_bloom_limits, full_with_256_members) {
  scalable_bloom filter({.capacity = 2, .fpr = 0.01, .growth = 1});
  std::uint64_t i = 0;
  while (filter.insert(nth(i)) != insert_outcome::full) ++i;
  EXPECT_EQ(filter.members().size(), bloomset::max_members);
  EXPECT_EQ(filter.size(), 512U);
  EXPECT_LE(filter.current_fpr(), 0.01);
  expect_full(filter, i);
}

TEST(scalable_bloom_limits, full_where_memory_cannot_be_had) {
  bloomset::use_memory_source({.allocate = [](std::size_t size) noexcept -> void* {
                                 return size > 4096 ? nullptr : std::calloc(1, size);
                               },
                               .release = [](void* at, std::size_t) noexcept { std::free(at); }});
  {
    scalable_bloom filter({.capacity = 1, .fpr = 0.5, .growth = 65536});
    EXPECT_EQ(filter.insert(nth(0)), insert_outcome::inserted);
    const auto before = bloomset::serialize(filter.image());
    std::uint64_t next = 1;
    while (filter.may_contain(nth(next))) ++next;
    ASSERT_TRUE(bloomset::plan_next_member(filter.params())) << "the plan is not what forbids it";
    EXPECT_EQ(filter.insert(nth(next)), insert_outcome::full);
    EXPECT_EQ(bloomset::serialize(filter.image()), before);
  }
  bloomset::use_memory_source({});
}

// --- as one of the kinds ---

TEST(scalable_bloom_kind, plans_creates_and_reports_by_name) {
  const auto row = bloomset::find_kind("scalable_bloom");
  ASSERT_TRUE(row);
  const bloomset::plan_request request{.capacity = 64, .fpr = 0.01, .options = {{"growth", "4"}}};
  const auto plan = (*row)->plan(request);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->capacity, 64U);
  EXPECT_EQ(plan->planned_fpr, 0.01);
  auto filter = (*row)->create(request);
  ASSERT_TRUE(filter) << filter.error().message;
  EXPECT_TRUE(filter->can().insert && filter->can().grow);
  EXPECT_FALSE(filter->can().erase || filter->can().merge || filter->can().intersect);
  EXPECT_EQ(filter->info().plan.bits, plan->bits);
  EXPECT_EQ(filter->info().plan.bytes, plan->bytes);

  // What the plan says that growth costs is what a filter that has grown so far takes.
  for (std::uint64_t i = 0; filter->capacity() < 64 * 1024; ++i) {
    const std::vector<hash64> one = {nth(i)};
    ASSERT_TRUE(filter->insert(one));
  }
  const auto info = filter->info();
  EXPECT_EQ(extra<std::uint64_t>(plan->extras, "members_after_1024fold_growth"),
            extra<std::uint64_t>(info.extras, "members"));
  EXPECT_EQ(extra<double>(plan->extras, "bits_per_key_after_1024fold_growth"),
            static_cast<double>(info.plan.bits) / (64 * 1024));
  EXPECT_EQ(extra<double>(info.extras, "growth"), 4);
  EXPECT_EQ(extra<double>(info.extras, "tightening"), 0.5);
  EXPECT_EQ(extra<std::uint64_t>(info.extras, "initial_capacity"), 64U);
  EXPECT_LE(info.current_fpr, 0.01);
}

TEST(scalable_bloom_kind, refuses_options_that_it_does_not_have) {
  const auto* row = bloomset::find_kind("scalable_bloom").value();
  const std::vector<bloomset::plan_request> refused = {
      {.capacity = 64, .fpr = 0.01, .hashes = 7, .options = {}},
      {.capacity = 64, .fpr = 0.01, .options = {{"foldable", "yes"}}},
      {.capacity = 64, .fpr = 0.01, .options = {{"growth", "two"}}},
      {.capacity = 64, .fpr = 0.01, .options = {{"tightening", "1"}}},
  };
  for (const auto& request : refused) {
    EXPECT_EQ(row->plan(request).error().code, errc::invalid_argument);
    EXPECT_EQ(row->create(request).error().code, errc::invalid_argument);
  }
}

}  // namespace
