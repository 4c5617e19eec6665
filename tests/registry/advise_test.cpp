// Advice ranks kinds by abilities first, then by figures, and gives true reasons. The kinds here
// are made up, so that the policy is tested alone. The last test uses the real kinds.

#include <gtest/gtest.h>

#include <array>
#include <bloomset/advise.hpp>
#include <bloomset/plan/formulas.hpp>
#include <string>
#include <vector>

namespace {

using bloomset::abilities;
using bloomset::advise;
using bloomset::errc;
using bloomset::fail;
using bloomset::kind_info;
using bloomset::needs;
using bloomset::plan_report;
using bloomset::plan_request;
using bloomset::result;

// A kind with this many tenths of a bit per key, at any rate.
template <unsigned Tenths>
result<plan_report> plan_tenths(const plan_request& r) {
  plan_report plan;
  plan.capacity = r.capacity != 0 ? r.capacity : r.bits * 10 / Tenths;
  plan.bits = r.bits != 0 ? r.bits : plan.capacity * Tenths / 10;
  plan.bytes = plan.bits / 8;
  plan.planned_fpr =
      r.fpr != 0 ? r.fpr : bloomset::formulas::ideal_fpr(plan.bits_per_key() * 96 / Tenths);
  return plan;
}

result<plan_report> refuse(const plan_request&) {
  return fail(errc::invalid_argument, "this rate is beyond it");
}

kind_info kind(std::string_view name, abilities can,
               result<plan_report> (*plan)(const plan_request&)) {
  return {.kind = bloomset::filter_kind::bloom,
          .name = name,
          .summary = "",
          .strengths = "",
          .can = can,
          .options = {},
          .plan = plan,
          .create = nullptr,
          .build = nullptr,
          .open = nullptr};
}

const std::array shelf = {
    kind("plain", {.insert = true, .merge = true}, plan_tenths<96>),
    kind("twin", {.insert = true}, plan_tenths<96>),
    kind("counter", {.insert = true, .erase = true, .count = true}, plan_tenths<384>),
    kind("table", {.insert = true, .erase = true}, plan_tenths<110>),
    kind("chain", {.insert = true, .grow = true}, plan_tenths<150>),
    kind("fixed", {}, plan_tenths<75>),
    kind("narrow", {.insert = true}, refuse),
};

const plan_request common = {.capacity = 1000, .fpr = 0.01};

std::vector<std::string> names(const bloomset::advice& found) {
  std::vector<std::string> all;
  for (const auto& each : found.ranked) all.emplace_back(each.kind->name);
  return all;
}

std::string recommended(const plan_request& request, const needs& wanted) {
  const auto found = advise(request, wanted, shelf);
  return found ? std::string(found->recommended().kind->name) : found.error().message;
}

TEST(advise, ranks_those_that_fit_by_size_then_lists_the_others_in_order) {
  const auto found = advise(common, {}, shelf);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(names(*found), (std::vector<std::string>{"plain", "twin", "table", "chain", "counter",
                                                     "fixed", "narrow"}));
  EXPECT_EQ(found->ranked[5].plan.error().code, errc::unsupported);
  EXPECT_EQ(found->ranked[6].plan.error().message, "this rate is beyond it");
  EXPECT_EQ(found->reason,
            "plain takes the least memory of the kinds here: 1.20 kB, no more than twin");
}

TEST(advise, picks_by_abilities) {
  EXPECT_EQ(recommended(common, {.deletable = true}), "table");
  EXPECT_EQ(recommended(common, {.counting = true}), "counter");
  EXPECT_EQ(recommended(common, {.deletable = true, .counting = true}), "counter");
  EXPECT_EQ(recommended(common, {.growing = true}), "chain");
  EXPECT_EQ(recommended(common, {.unchanging = true}), "fixed");
}

TEST(advise, gives_the_reason) {
  EXPECT_EQ(advise(common, {.deletable = true}, shelf)->reason,
            "table takes the least memory of the kinds that can erase: 1.38 kB, against 4.80 kB "
            "for counter");
  EXPECT_EQ(advise(common, {.deletable = true, .counting = true}, shelf)->reason,
            "counter is the only kind here that can erase and count");
  EXPECT_EQ(advise(common, {.unchanging = true}, shelf)->reason,
            "fixed takes the least memory of the kinds here: 937 B, against 1.20 kB for plain; no "
            "filter of that rate can do with less than 6.64 bits/key");
}

// With this many tenths of a bit per key and this many cache lines per query.
template <unsigned Tenths, unsigned Lines>
result<plan_report> plan_lines(const plan_request& r) {
  auto plan = plan_tenths<Tenths>(r);
  plan->lines_per_query = Lines;
  return plan;
}

const std::array by_lines = {
    kind("seven_lines", {.insert = true}, plan_lines<960, 7>),
    kind("two_lines", {.insert = true}, plan_lines<1000, 2>),
    kind("one_line", {.insert = true}, plan_lines<1050, 1>),
    kind("large", {.insert = true}, plan_lines<1100, 1>),
};

TEST(advise, prefers_fewer_cache_lines_to_a_tenth_of_memory) {
  const auto found = advise(common, {}, by_lines);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(names(*found),
            (std::vector<std::string>{"one_line", "seven_lines", "two_lines", "large"}));
  EXPECT_EQ(found->reason,
            "one_line reads 1 cache line per query, against 7 cache lines for seven_lines, which "
            "takes the least memory: 12.0 kB, against 13.1 kB");
  // More than a tenth is too much.
  const std::array far = {by_lines[0], by_lines[3]};
  EXPECT_EQ(advise(common, {}, far)->recommended().kind->name, "seven_lines");
  // Where the memory is given, by the keys that it holds.
  EXPECT_EQ(advise({.fpr = 0.01, .bits = 800'000}, {}, by_lines)->recommended().kind->name,
            "one_line");
  // Rates are compared as they are.
  EXPECT_EQ(advise({.capacity = 1000, .bits = 8000}, {}, by_lines)->recommended().kind->name,
            "seven_lines");
}

TEST(advise, says_so_when_no_kind_is_built_for_an_unchanging_set) {
  const auto found = advise(common, {.unchanging = true}, std::span(shelf).first(2));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->recommended().kind->name, "plain");
  EXPECT_EQ(found->reason.find("no kind here that is built once for an unchanging set fits; "), 0U)
      << found->reason;
}

TEST(advise, compares_by_what_the_request_leaves_open) {
  const auto rate = advise({.capacity = 1000, .bits = 8000}, {.deletable = true}, shelf);
  ASSERT_TRUE(rate) << rate.error().message;
  EXPECT_EQ(rate->recommended().kind->name, "table");
  EXPECT_NE(rate->reason.find("has the lowest rate in that memory"), std::string::npos);
  const auto keys = advise({.fpr = 0.01, .bits = 8000}, {.deletable = true}, shelf);
  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_EQ(keys->recommended().kind->name, "table");
  EXPECT_NE(keys->reason.find("holds the most keys in that memory"), std::string::npos);
}

TEST(advise, refuses_what_is_insufficient_or_contradicts_itself) {
  const std::vector<plan_request> insufficient = {{},
                                                  {.capacity = 1000},
                                                  {.fpr = 0.01},
                                                  {.bits = 8000},
                                                  {.hashes = 3},
                                                  {.fpr = 0.01, .hashes = 3}};
  for (const plan_request& request : insufficient) {
    const auto found = advise(request, {}, shelf);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, errc::invalid_argument);
    EXPECT_NE(found.error().message.find("give two of"), std::string::npos);
  }
  const auto still = advise(common, {.deletable = true, .unchanging = true}, shelf);
  ASSERT_FALSE(still);
  EXPECT_EQ(still.error().code, errc::invalid_argument);
  const auto both = advise(common, {.deletable = true, .growing = true}, shelf);
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().code, errc::unsupported);
  EXPECT_EQ(both.error().message, "no kind here can erase and grow at once; leave that need out");
  const auto none = advise(common, {}, std::span(shelf).last(1));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "this rate is beyond it");
}

TEST(advise, one_kind_is_held_to_the_needs_too) {
  const auto plain = bloomset::plan_for(shelf[0], common, {.deletable = true, .growing = true});
  ASSERT_FALSE(plain);
  EXPECT_EQ(plain.error().message, "a filter of kind plain cannot erase or grow");
  EXPECT_FALSE(bloomset::plan_for(shelf[5], common, {}));
  EXPECT_TRUE(bloomset::plan_for(shelf[5], common, {.unchanging = true}));
}

// Whatever kinds exist: the recommended one has the abilities and meets the request, and others
// that do are smaller by a tenth at most, and then read more cache lines.
TEST(advise, the_real_kinds) {
  for (const double eps : {0.1, 0.01, 0.001, 1e-5}) {
    const plan_request request = {.capacity = 100'000, .fpr = eps};
    for (const kind_info& row : bloomset::kinds()) {
      const needs wanted = {
          .deletable = row.can.erase, .counting = row.can.count, .growing = row.can.grow};
      const auto found = advise(request, wanted);
      ASSERT_TRUE(found) << row.name << ": " << found.error().message;
      const auto& best = found->recommended();
      EXPECT_TRUE(!wanted.deletable || best.kind->can.erase);
      EXPECT_TRUE(!wanted.counting || best.kind->can.count);
      EXPECT_TRUE(!wanted.growing || best.kind->can.grow);
      EXPECT_LE(best.plan->planned_fpr, eps);
      EXPECT_GE(best.plan->capacity, request.capacity);
      // Kinds of two sets are not compared: the request has one.
      EXPECT_EQ(found->ranked.size(),
                std::ranges::count_if(bloomset::kinds(), [](const kind_info& kind) {
                  return kind.build_of_two_sets == nullptr;
                }));
      // Growing kinds are compared by their size after growth.
      if (wanted.growing) {
        EXPECT_EQ(best.kind->name, "expandable");
      }
      for (const auto& each : found->ranked) {
        if (each.plan && !wanted.growing) {
          const auto bytes = static_cast<double>(each.plan->bytes);
          const bool reads_less = best.plan->lines_per_query < each.plan->lines_per_query;
          EXPECT_LE(static_cast<double>(best.plan->bytes), reads_less ? 1.1 * bytes : bytes);
        }
      }
    }
  }
}

}  // namespace
