// The vector quotient filter against a multiset and against its documented promises.

#include <bloomset/vector_quotient.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "tests/kinds/vector_quotient/vector_quotient_filters.hpp"

namespace bloomset::test {
namespace {

using namespace quotients;  // NOLINT(google-build-using-namespace)

using detail::vq_layout;

// A filter and an exact multiset of its tags. Keys of equal tag and pair of blocks are one key to
// the filter, so that every answer is known exactly.
class model {
 public:
  explicit model(const shape& of) : filter_(filter_of(of)) {}

  void insert(hash64 h) {
    auto& copies = classes_[class_of(h)];
    const auto outcome = filter_.insert(h);
    if (outcome == insert_outcome::full) {
      ASSERT_EQ(copies, 0U) << "a copy always finds room";
      ++fulls;
      return;
    }
    ASSERT_EQ(outcome == insert_outcome::inserted, copies == 0);
    ++copies;
    ++total_;
  }
  void erase(hash64 h) {
    auto& copies = classes_[class_of(h)];
    ASSERT_EQ(filter_.erase(h), copies > 0);
    if (copies == 0) return;
    --copies;
    --total_;
  }
  void check(hash64 h) {
    const std::uint64_t copies = classes_[class_of(h)];
    ASSERT_EQ(filter_.count(h), copies);
    ASSERT_EQ(filter_.may_contain(h), copies != 0);
    ASSERT_EQ(filter_.size(), total_);
    max_stashed = std::max(max_stashed, filter_.stashed());
  }

  vector_quotient& filter() { return filter_; }
  int fulls = 0;
  unsigned max_stashed = 0;

 private:
  using key_class = std::pair<std::uint64_t, std::uint64_t>;
  key_class class_of(hash64 h) const {
    const auto at = filter_.place(h);
    return {std::min(at.first, at.second), at.tag};
  }

  vector_quotient filter_;
  std::map<key_class, std::uint64_t> classes_;
  std::uint64_t total_ = 0;
};

TEST(vector_quotient, runs_in_lockstep_with_a_multiset_of_zipf_counts) {
  for (const shape& of : shapes) {
    SCOPED_TRACE(
        fmt::format("{} blocks of {} slots of {} bits", of.blocks, of.slots, of.remainder_bits));
    model run(of);
    const vector_quotient empty = run.filter();
    std::mt19937_64 random(of.blocks * 100 + of.remainder_bits);
    const double slots = static_cast<double>(of.blocks * of.slots);
    const auto ranks = static_cast<std::uint64_t>(2 * slots);
    // Rank k has a frequency of 1/k: some keys come thousands of times, most once or never. Phases
    // of inserts and of erases alternate, so that the filter is full and empty several times.
    std::vector<hash64> inserted;
    for (int step = 0; step < 8000; ++step) {
      const bool filling = step / 2000 % 2 == 0;
      const double uniform = std::uniform_real_distribution<double>(0, 1)(random);
      const auto rank = static_cast<std::uint64_t>(std::pow(static_cast<double>(ranks), uniform));
      const hash64 h = key(rank);
      if (random() % 8 != 0 ? filling : !filling) {
        ASSERT_NO_FATAL_FAILURE(run.insert(h));
      } else {
        ASSERT_NO_FATAL_FAILURE(run.erase(h));
      }
      ASSERT_NO_FATAL_FAILURE(run.check(h));
      ASSERT_NO_FATAL_FAILURE(run.check(key(1 + random() % ranks)));
    }
    // Without keys it has the bytes of an empty filter.
    for (std::uint64_t rank = 1; rank <= ranks; ++rank) {
      while (run.filter().count(key(rank)) != 0) ASSERT_NO_FATAL_FAILURE(run.erase(key(rank)));
    }
    EXPECT_EQ(file_bytes(run.filter()), file_bytes(empty));
  }
}

TEST(vector_quotient, full_is_said_after_the_stash_and_nothing_is_lost) {
  for (const shape& of : shapes) {
    model run(of);
    std::uint64_t n = 0;
    while (run.fulls == 0) {
      ASSERT_NO_FATAL_FAILURE(run.insert(key(n)));
      ASSERT_NO_FATAL_FAILURE(run.check(key(n++)));
    }
    EXPECT_EQ(run.max_stashed, 4U);
    EXPECT_GE(n, run.filter().params().capacity);
    const auto before = file_bytes(run.filter());
    std::uint64_t refused = 0;
    for (std::uint64_t i = n; i < n + 100; ++i) {
      if (run.filter().may_contain(key(i))) continue;
      const int fulls = run.fulls;
      ASSERT_NO_FATAL_FAILURE(run.insert(key(i)));
      ASSERT_NO_FATAL_FAILURE(run.check(key(i)));
      if (run.fulls != fulls) {
        ++refused;
      } else {
        ASSERT_NO_FATAL_FAILURE(run.erase(key(i)));
      }
    }
    EXPECT_GT(refused, 50U);
    if (refused == 100) {
      EXPECT_EQ(file_bytes(run.filter()), before);
    }
    for (std::uint64_t i = 0; i + 1 < n; ++i) ASSERT_NO_FATAL_FAILURE(run.check(key(i)));
    // Free slots take the stashed tags first.
    for (std::uint64_t i = 0; i < n / 2; ++i) ASSERT_NO_FATAL_FAILURE(run.erase(key(i)));
    for (std::uint64_t i = 0; i + 1 < n; ++i) ASSERT_NO_FATAL_FAILURE(run.check(key(i)));
    EXPECT_EQ(run.filter().stashed(), 0U);
  }
}

TEST(vector_quotient, copies_of_one_key_beyond_16_bits_are_counted_and_taken_out_again) {
  constexpr std::uint64_t copies = std::uint64_t{1} << 17;
  vector_quotient f({.capacity = 1000, .fpr = 0.01});
  const auto empty = file_bytes(f);
  for (std::uint64_t i = 0; i < 900; ++i) f.insert(i);
  const auto before = file_bytes(f);
  const std::vector<std::string> many(1024, "again and again");
  for (std::uint64_t i = 0; i < copies; i += many.size()) {
    ASSERT_EQ(f.insert(many).done, many.size());
    ASSERT_EQ(f.count(many.front()), i + many.size());
  }
  EXPECT_EQ(f.size(), copies + 900);
  EXPECT_EQ(reopen<mapped_storage>(f).filter.count(many.front()), copies);
  EXPECT_EQ(reopen<owned_storage>(f).filter.count(many.front()), copies);
  EXPECT_LT(f.current_fpr(), 0.01) << "copies do not raise the rate";
  EXPECT_NEAR(f.estimate_size(), 901, 9);
  for (std::uint64_t i = 0; i < copies; i += many.size()) ASSERT_EQ(f.erase(many), many.size());
  EXPECT_EQ(f.count(many.front()), 0U);
  EXPECT_EQ(file_bytes(f), before);
  for (std::uint64_t i = 0; i < 900; ++i) ASSERT_TRUE(f.erase(i));
  EXPECT_EQ(file_bytes(f), empty);
}

TEST(vector_quotient, copies_take_no_room_from_distinct_keys) {
  constexpr std::uint64_t n = 20'000;
  vector_quotient f({.capacity = n, .fpr = 0.01});
  for (std::uint64_t i = 0; i < n / 2; ++i) {
    for (int copy = 0; copy < 5; ++copy) ASSERT_TRUE(is_contained(f.insert(key(i))));
  }
  for (std::uint64_t i = n / 2; i < n; ++i) ASSERT_TRUE(is_contained(f.insert(key(i)))) << i;
  for (std::uint64_t i = 0; i < n; ++i) {
    ASSERT_GE(f.count(key(i)), i < n / 2 ? 5U : 1U);
    ASSERT_TRUE(f.may_contain(key(i)));
  }
  EXPECT_EQ(f.size(), n / 2 * 6);
}

// Copies disturb the balance of blocks most if these have few slots. For each filter the chance
// that distinct keys do not fit is below 1/10,000; the seeds are fixed.
TEST(vector_quotient, twice_each_the_planned_keys_fit_at_every_rate) {
  for (const auto& [n, fpr, seeds] : {std::tuple{20'000U, 1e-9, 5U}, std::tuple{100'000U, 1e-4, 2U},
                                      std::tuple{200U, 0.01, 500U}, std::tuple{3'000U, 0.1, 20U}}) {
    for (unsigned seed = 0; seed < seeds; ++seed) {
      vector_quotient f({.capacity = n, .fpr = fpr, .seed = seed});
      for (std::uint64_t i = 0; i < n; ++i) {
        ASSERT_TRUE(is_contained(f.insert(key(i)))) << n << " at " << fpr << ": " << i;
        ASSERT_TRUE(is_contained(f.insert(key(i)))) << n << " at " << fpr << ": " << i;
      }
      for (std::uint64_t i = 0; i < n; ++i) ASSERT_GE(f.count(key(i)), 2U);
    }
  }
}

TEST(vector_quotient, planned_for_the_copies_they_have_slots) {
  constexpr std::uint64_t n = 100'000;
  for (const std::uint64_t copies : {2ULL, 3ULL}) {
    vector_quotient f({.capacity = copies * n, .fpr = 0.01});
    const auto planned = f.size_in_bytes();
    for (std::uint64_t i = 0; i < n * copies; ++i) ASSERT_TRUE(is_contained(f.insert(key(i % n))));
    // The overflow table has the copies without a slot beside the first: hundreds of 100,000.
    EXPECT_LE(f.size_in_bytes(), planned + planned / 8);
    for (std::uint64_t i = 0; i < n; ++i) ASSERT_GE(f.count(key(i)), copies);
    for (std::uint64_t i = 0; i < n * copies; ++i) ASSERT_TRUE(f.erase(key(i % n)));
    EXPECT_EQ(file_bytes(f), file_bytes(vector_quotient({.capacity = copies * n, .fpr = 0.01})));
  }
}

// 4 n erases and inserts at a load of 0.97. The rate depends on the number of different tags,
// about 10^5, which differs by hundreds between two sets of keys, not by 1%.
TEST(vector_quotient, churn_at_full_load_loses_nothing_and_the_rate_does_not_drift) {
  constexpr std::uint64_t blocks = 2000;
  constexpr auto n = static_cast<std::uint64_t>(blocks * 53 * 0.97);
  auto f = filter_of({blocks, 53, 7});
  std::vector<std::uint64_t> members(n);
  for (std::uint64_t i = 0; i < n; ++i) members[i] = i;
  ASSERT_EQ(f.insert(keys(n)).done, n);
  const double rate = f.current_fpr();
  EXPECT_NEAR(rate, 2 * 0.97 * 53 / 88 / 128, 0.01 * rate);
  std::mt19937_64 random(1);
  std::uint64_t next_key = n;
  for (std::uint64_t step = 0; step < 4 * n; ++step) {
    std::uint64_t& one = members[random() % n];
    ASSERT_TRUE(f.erase(key(one)));
    one = next_key++;
    ASSERT_TRUE(is_contained(f.insert(key(one))));
  }
  EXPECT_EQ(f.size(), n);
  for (const std::uint64_t one : members) ASSERT_TRUE(f.may_contain(key(one)));
  EXPECT_NEAR(f.current_fpr(), rate, 0.01 * rate);
  std::uint64_t hits = 0;
  for (std::uint64_t i = 0; i < 200'000; ++i) hits += f.may_contain(key(i, 7));
  // Binomial about 1827, standard deviation 43; 6 of them have a chance below 3e-9.
  EXPECT_NEAR(static_cast<double>(hits), 200'000 * f.current_fpr(), 6 * 43.0);
  for (const std::uint64_t one : members) ASSERT_TRUE(f.erase(key(one)));
  EXPECT_EQ(file_bytes(f), file_bytes(filter_of({blocks, 53, 7})));
}

// Up to a load of 0.97 an insert reads at most 12 blocks and moves at most one tag.
TEST(vector_quotient, an_insert_touches_few_lines_and_moves_one_tag_at_the_most) {
  constexpr std::uint64_t blocks = 4000;
  constexpr auto n = static_cast<std::uint64_t>(blocks * 53 * 0.97);
  auto f = filter_of({blocks, 53, 7});
  const vq_layout layout = layout_of(f);
  const auto tags_of = [&](const std::byte* table, std::uint64_t i) {
    std::vector<std::uint64_t> tags;
    layout.for_each_tag(layout.block(table, i), [&](unsigned, std::uint64_t tag) {
      tags.push_back(tag);
      return true;
    });
    return tags;
  };
  unsigned max_lines = 0;
  std::uint64_t all_lines = 0;
  std::uint64_t moves = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    const auto at = f.place(key(i));
    const auto table = f.image().payload.front();
    unsigned lines = at.first == at.second ? 1 : 2;
    const bool has_room =
        f.slots_taken(at.first) < layout.slots() || f.slots_taken(at.second) < layout.slots();
    if (has_room || f.count(key(i)) != 0) {
      all_lines += lines;
      ASSERT_TRUE(is_contained(f.insert(key(i))));
      continue;
    }
    // The other block of each tag in turn, until one has a free slot.
    std::uint64_t to = blocks;
    std::uint64_t from = blocks;
    std::uint64_t moved = 0;
    for (const std::uint64_t block : {at.first, at.second}) {
      for (const std::uint64_t tag : tags_of(table.data(), block)) {
        const std::uint64_t other = layout.other_block(block, tag);
        if (other == block) continue;
        ++lines;
        if (f.slots_taken(other) == layout.slots()) continue;
        to = other;
        from = block;
        moved = tag;
        break;
      }
      if (to != blocks) break;
    }
    ASSERT_NE(to, blocks) << "no tag could move at a load of "
                          << static_cast<double>(i) / (53.0 * blocks);
    const std::vector<std::byte> before(table.begin(), table.end());
    ASSERT_EQ(f.insert(key(i)), insert_outcome::inserted);
    const auto after = f.image().payload.front();
    const auto is_same = [&](std::uint64_t block) {
      return std::equal(before.data() + block * 64, before.data() + block * 64 + 64,
                        after.data() + block * 64);
    };
    if (is_same(to)) {  // a copy made room instead: no other line was touched
      ASSERT_NE(is_same(at.first), is_same(at.second));
      all_lines += 2;
      continue;
    }
    for (std::uint64_t block = 0; block < blocks; ++block) {
      ASSERT_TRUE(block == to || block == from || is_same(block)) << block;
    }
    auto expected_to = tags_of(before.data(), to);
    expected_to.push_back(moved);
    auto expected_from = tags_of(before.data(), from);
    expected_from.erase(std::find(expected_from.begin(), expected_from.end(), moved));
    expected_from.push_back(at.tag);
    std::sort(expected_to.begin(), expected_to.end());
    std::sort(expected_from.begin(), expected_from.end());
    auto found_to = tags_of(after.data(), to);
    auto found_from = tags_of(after.data(), from);
    std::sort(found_to.begin(), found_to.end());
    std::sort(found_from.begin(), found_from.end());
    ASSERT_EQ(found_to, expected_to);
    ASSERT_EQ(found_from, expected_from);
    ++moves;
    all_lines += lines;
    max_lines = std::max(max_lines, lines);
  }
  EXPECT_LE(max_lines, 12U);
  EXPECT_LT(static_cast<double>(all_lines), 2.1 * static_cast<double>(n));
  EXPECT_LT(static_cast<double>(moves), 0.01 * static_cast<double>(n));
  EXPECT_GT(moves, 0U);
}

TEST(vector_quotient, merge_adds_all_copies) {
  for (const shape& of : {shape{30, 54, 7}, shape{12, 28, 16}}) {
    auto a = filter_of(of);
    auto b = filter_of(of);
    const std::uint64_t n = of.blocks * of.slots / 3;
    for (std::uint64_t i = 0; i < n; ++i) {
      for (std::uint64_t copy = 0; copy < 1 + i % 9; ++copy) a.insert(key(i));
      for (std::uint64_t copy = 0; copy < 1 + i % 4; ++copy) b.insert(key(i + n / 2));
    }
    const auto before_a = a;
    auto ab = a;
    value_of(ab.merge(reopen<mapped_storage>(b).filter));
    EXPECT_EQ(ab.size(), a.size() + b.size());
    for (std::uint64_t i = 0; i < 3 * n; ++i) {
      ASSERT_EQ(ab.count(key(i)), a.count(key(i)) + b.count(key(i)));
    }
    value_of(a.merge(a));
    for (std::uint64_t i = 0; i < 3 * n; ++i) {
      ASSERT_EQ(a.count(key(i)), 2 * before_a.count(key(i)));
    }
    // Doubled 64 times, a count exceeds 64 bits.
    auto doubled = before_a;
    int times = 0;
    while (doubled.merge(doubled)) ++times;
    EXPECT_GT(times, 40);
    EXPECT_LT(times, 64);
    const auto at_the_end = file_bytes(doubled);
    const auto refused = doubled.merge(doubled);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, errc::full);
    EXPECT_EQ(file_bytes(doubled), at_the_end);
    for (std::uint64_t i = 0; i < n; ++i) ASSERT_TRUE(doubled.may_contain(key(i)));
  }
}

TEST(vector_quotient, what_contradicts_itself_is_not_opened) {
  const auto f = filter_of({3, 53, 7});
  const std::uint64_t stash = 3 * 64;
  const auto opened = [&](auto change) {
    auto payload = payload_bytes(f);
    change(payload);
    return vector_quotient::open(f.params(), value_of(owned_storage::copy_of(payload)), 5);
  };
  ASSERT_TRUE(opened([](auto&) {}));
  const auto with_word = [&](std::size_t at, std::uint64_t word) {
    return opened([=](auto& payload) { detail::store(payload.data() + at, word); });
  };
  EXPECT_TRUE(with_word(stash + 8, 3)) << "three copies of pair 0 are possible";
  for (const auto& bad : {with_word(stash, 1),         // a pair of no copies
                          with_word(stash + 24, 1),    // a gap
                          opened([&](auto& payload) {  // a pair out of range
                            detail::store(payload.data() + stash, std::uint64_t{3} * 88 * 128);
                            detail::store(payload.data() + stash + 8, std::uint64_t{1});
                          })}) {
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().code, errc::corrupt);
  }
}

TEST(vector_quotient_overflow_table, is_a_multiset_that_ends_as_it_began) {
  detail::vq_overflow_table table;
  std::map<std::uint64_t, std::uint64_t> expected;
  std::mt19937_64 random(1);
  std::uint64_t max_entries = 0;
  for (int step = 0; step < 60'000; ++step) {
    const std::uint64_t pair = random() % 500 * 0x10001;
    const bool filling = step / 10'000 % 2 == 0;
    if (random() % 4 != 0 ? filling : !filling) {
      const std::uint64_t copies = 1 + random() % 3;
      ASSERT_TRUE(table.insert(pair, copies));
      expected[pair] += copies;
    } else {
      ASSERT_EQ(table.erase(pair), expected.contains(pair));
      if (expected.contains(pair) && --expected[pair] == 0) expected.erase(pair);
    }
    ASSERT_EQ(table.view().copies(pair), expected.contains(pair) ? expected[pair] : 0);
    ASSERT_EQ(table.used(), expected.size());
    ASSERT_LE(4 * table.used(), 3 * table.entries());
    max_entries = std::max(max_entries, table.entries());
  }
  EXPECT_EQ(max_entries, 1024U);
  for (const auto& [pair, copies] : expected) {
    ASSERT_EQ(table.view().copies(pair), copies);
    for (std::uint64_t i = 0; i < copies; ++i) ASSERT_TRUE(table.erase(pair));
  }
  EXPECT_EQ(table.entries(), 0U);
  ASSERT_TRUE(table.insert(7, ~std::uint64_t{0}));
  EXPECT_FALSE(table.insert(7, 1)) << "beyond 64 bits";
  EXPECT_EQ(table.view().copies(7), ~std::uint64_t{0});
}

}  // namespace
}  // namespace bloomset::test
