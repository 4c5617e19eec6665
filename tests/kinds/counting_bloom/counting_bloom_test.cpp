// The counting Bloom filter against a real multiset and against the literature.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <bloomset/bloomset.hpp>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "tests/kinds/counting_bloom/counting_bloom_filters.hpp"
#include "tests/support/filter_types.hpp"

namespace {

using bloomset::counting_bloom;
using bloomset::counting_bloom_spec;
using bloomset::errc;
using bloomset::insert_outcome;

// |z| > 5 has a chance of 5.7e-7 for a normal variable: the false-alarm chance of each statistical
// comparison here. The seeds are fixed.
constexpr double alarm = 5;

std::vector<std::byte> copy_of(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

std::set<std::uint64_t> places_of(const counting_bloom& filter, std::uint64_t key) {
  std::set<std::uint64_t> places;
  bloomset::with_hash(filter.hash_function(), key, [&](bloomset::hash64 h) {
    for (unsigned i = 0; i < filter.params().array.hashes; ++i) {
      places.insert(counting_bloom::probe_type::position(h, i, filter.params().counters()));
    }
  });
  return places;
}

// ---- against a multiset

struct step {
  unsigned key;
  unsigned copies;
  bool insert;
};

TEST(counting_bloom, keeps_step_with_a_multiset) {
  EXPECT_TRUE(rc::check("no member is missed, no count is too low", [] {
    const unsigned width = *rc::gen::elementOf(widths);
    const auto counters = *rc::gen::inRange<std::uint64_t>(1, 40);
    const auto hashes = *rc::gen::inRange(1U, 9U);
    // Enough copies at once that 4 and 8 bits saturate; 16 bits have a test of their own.
    const unsigned max_copies = width == 4 ? 7 : 120;
    constexpr unsigned keys = 12;
    const auto steps = *rc::gen::container<std::vector<step>>(rc::gen::construct<step>(
        rc::gen::inRange(0U, keys), rc::gen::inRange(1U, max_copies), rc::gen::arbitrary<bool>()));
    counting_bloom filter({.bits = counters * width,
                           .hashes = hashes,
                           .seed = *rc::gen::arbitrary<std::uint64_t>(),
                           .counter_bits = width});
    std::map<unsigned, std::uint64_t> truth;
    std::uint64_t size = 0;
    for (const step& s : steps) {
      for (unsigned i = 0; i < s.copies; ++i) {
        if (s.insert) {
          const bool was_there = filter.may_contain(s.key);
          RC_ASSERT((filter.insert(s.key) == insert_outcome::inserted) == !was_there);
          ++truth[s.key];
          ++size;
        } else if (truth[s.key] > 0) {  // only members are erased
          RC_ASSERT(filter.erase(s.key));
          --truth[s.key];
          --size;
        }
      }
      RC_ASSERT(filter.size() == size);
      for (const auto& [key, copies] : truth) {
        RC_ASSERT(copies == 0 || filter.may_contain(key));
        RC_ASSERT(filter.count(key) >= std::min(copies, filter.ceiling()));
        RC_ASSERT(filter.count(key) <= filter.ceiling());
      }
    }
    RC_CLASSIFY(filter.stuck_counters() > 0, "saturated");
    const std::uint64_t stuck = filter.stuck_counters();
    for (const auto& [key, copies] : truth) {
      for (std::uint64_t i = 0; i < copies; ++i) RC_ASSERT(filter.erase(key));
    }
    // What is left is exactly what stuck.
    RC_ASSERT(filter.non_zero_counters() == filter.stuck_counters());
    RC_ASSERT(filter.stuck_counters() == stuck);
    RC_ASSERT(filter.size() == 0U);
  }));
}

TEST(counting_bloom, a_counter_at_its_maximum_sticks) {
  for (const unsigned width : widths) {
    // Few counters, so that probes of one key meet: 12 probes have at most 9 places.
    counting_bloom filter({.bits = std::uint64_t{9} * width, .hashes = 12, .counter_bits = width});
    const std::uint64_t copies = width == 4 ? 100 : filter.ceiling() + 1000;
    for (std::uint64_t i = 0; i < copies; ++i) filter.insert(7);
    const auto places = places_of(filter, 7).size();
    ASSERT_LT(places, 12U);
    EXPECT_EQ(filter.stuck_counters(), places);
    EXPECT_EQ(filter.count(7), filter.ceiling());
    EXPECT_EQ(filter.size(), copies);
    for (std::uint64_t i = 0; i < copies; ++i) ASSERT_TRUE(filter.erase(7));
    EXPECT_TRUE(filter.may_contain(7));
    EXPECT_EQ(filter.stuck_counters(), places);
    EXPECT_EQ(filter.size(), 0U);
    EXPECT_TRUE(filter.erase(7)) << "it cannot know";
    EXPECT_EQ(filter.size(), 0U) << "and the count does not wrap";
    filter.clear();
    EXPECT_EQ(filter.non_zero_counters(), 0U);
  }
}

TEST(counting_bloom, a_place_that_two_probes_share_counts_once) {
  // 1 has the places 1 and 2, 2 the places 2 and 2.
  auto filter =
      filter_of({.bits = 32, .hashes = 2}, [](auto x) { return x; }, [](auto) { return 2; });
  filter.insert(1);
  ASSERT_EQ(filter.count(2), 1U) << "a non-member that passes";
  EXPECT_TRUE(filter.erase(2));
  EXPECT_EQ(filter.counter(2), 0U) << "taken once, not below zero";
  filter.clear();
  filter.insert(2);
  filter.insert(2);
  EXPECT_EQ(filter.counter(2), 2U);
  EXPECT_EQ(filter.count(2), 2U);
}

// ---- merge

TEST(counting_bloom, merge_is_inserting_both) {
  EXPECT_TRUE(rc::check("byte for byte, also where counters saturate", [] {
    const unsigned width = *rc::gen::elementOf(widths);
    const counting_bloom_spec spec{.bits = *rc::gen::inRange<std::uint64_t>(1, 100) * width,
                                   .hashes = *rc::gen::inRange(1U, 9U),
                                   .counter_bits = width};
    const auto ours = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 20));
    const auto theirs = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 20));
    counting_bloom a(spec);
    counting_bloom b(spec);
    counting_bloom both(spec);
    for (const int key : ours) a.insert(key), both.insert(key);
    for (const int key : theirs) b.insert(key), both.insert(key);
    RC_ASSERT(a.merge(b).has_value());
    RC_ASSERT(copy_of(a.bytes()) == copy_of(both.bytes()));
    RC_ASSERT(a.size() == both.size());
    RC_CLASSIFY(a.stuck_counters() > 0, "saturated");
  }));
}

TEST(counting_bloom, merged_with_itself_counts_twice_up_to_the_ceiling) {
  counting_bloom c({.capacity = 10, .fpr = 0.01});
  for (int i = 0; i < 6; ++i) c.insert("six");
  ASSERT_TRUE(c.merge(c));
  EXPECT_EQ(c.count("six"), 12U);
  ASSERT_TRUE(c.merge(c));
  EXPECT_EQ(c.count("six"), c.ceiling());
}

TEST(counting_bloom, only_filters_built_alike_merge) {
  const counting_bloom_spec spec{.capacity = 100, .bits = 8000, .hashes = 5, .seed = 1};
  const std::map<std::string, counting_bloom_spec> others = {
      {"counters of 4 and of 8 bits",
       {.capacity = 100, .bits = 16000, .hashes = 5, .seed = 1, .counter_bits = 8}},
      {"bits", {.capacity = 100, .bits = 8004, .hashes = 5, .seed = 1}},
      {"hashes", {.capacity = 100, .bits = 8000, .hashes = 6, .seed = 1}},
      {"seed", {.capacity = 100, .bits = 8000, .hashes = 5, .seed = 2}},
  };
  for (const auto& [what, other_spec] : others) {
    counting_bloom filter(spec);
    filter.insert("a");
    const auto before = copy_of(filter.bytes());
    counting_bloom other(other_spec);
    other.insert("b");
    const auto merged = filter.merge(other);
    ASSERT_FALSE(merged) << what;
    EXPECT_EQ(merged.error().code, errc::incompatible);
    EXPECT_NE(merged.error().message.find(what), std::string::npos) << merged.error().message;
    EXPECT_EQ(copy_of(filter.bytes()), before);
    EXPECT_EQ(filter.size(), 1U);
  }
}

// ---- rates

TEST(counting_bloom, current_rate_is_that_of_the_counters_as_they_stand) {
  counting_bloom filter({.capacity = 5000, .fpr = 0.02, .seed = 3});
  std::uint64_t keys = 0;
  const auto compare = [&](const char* when) {
    constexpr std::uint64_t non_members = 200'000;
    const auto hits = static_cast<double>(
        bloomset::test::hits(filter, bloomset::test::hashes_of_stream(1, non_members)));
    const double expected = filter.current_fpr() * non_members;
    EXPECT_NEAR(hits, expected, alarm * std::sqrt(expected * (1 - filter.current_fpr()))) << when;
  };
  while (keys < 3000) filter.insert(keys++);
  compare("partly filled");
  while (keys < 5000) filter.insert(keys++);
  compare("at capacity");
  while (keys < 20'000) filter.insert(keys++);
  EXPECT_GT(filter.current_fpr(), 0.4);
  compare("overfilled");
  while (keys > 4000) ASSERT_TRUE(filter.erase(--keys));
  EXPECT_LT(filter.current_fpr(), 0.02);
  compare("after erasing");
}

TEST(counting_bloom, counters_reach_a_value_no_oftener_than_the_bound) {
  // Fan et al., 2000: at the optimal k, where k n / m = ln 2, 4-bit counters overflow with 1.37e-15
  // m.
  const double m = 7000 / std::numbers::ln2;
  EXPECT_NEAR(bloomset::formulas::counter_reaches(1000, m, 7, 16) / m, 1.37e-15, 0.005e-15);
  EXPECT_EQ(bloomset::formulas::counter_reaches(15, 100, 7, 16), 0.0);
  EXPECT_EQ(bloomset::formulas::counter_reaches(1e6, 10, 7, 16), 1.0);
  // Measured: at k n / m = 0.7 the bound for 7 is 0.11; a tenth of that is to be expected, since
  // the Poisson tail is smaller than (e load / 7)^7 by the factor that Stirling's formula leaves
  // out.
  constexpr int filters = 2000;
  int reached = 0;
  for (std::uint64_t seed = 1; seed <= filters; ++seed) {
    counting_bloom filter({.bits = 4000, .hashes = 7, .seed = seed});
    for (int i = 0; i < 100; ++i) filter.insert(i);
    bool any = false;
    for (std::uint64_t place = 0; place < 1000; ++place) any |= filter.counter(place) >= 7;
    reached += any;
  }
  EXPECT_GT(reached, 0);
  EXPECT_LE(reached, filters * bloomset::formulas::counter_reaches(100, 1000, 7, 7));
}

}  // namespace
