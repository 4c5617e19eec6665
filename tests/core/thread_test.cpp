// The headers' promise for threads: any number may query a filter at once. Run it under the thread
// sanitizer, which detects a write hidden in a const call.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bloomset/bloomset.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/support/words.hpp"

namespace {

using bloomset::test::hashes_of_stream;
using bloomset::test::word;

constexpr std::size_t members = 4000;
constexpr unsigned threads = 4;

class threads_that_query : public testing::TestWithParam<const bloomset::kind_info*> {};

TEST_P(threads_that_query, find_every_member_at_once) {
  const auto names = bloomset::test::words("key", members);
  const std::vector<std::string_view> keys(names.begin(), names.end());
  const bloomset::any_filter filter =
      bloomset::test::filter_of(*GetParam(), {.capacity = members, .fpr = 0.01}, names);

  std::atomic<std::size_t> found = 0;
  {
    std::vector<std::jthread> askers;
    for (unsigned t = 0; t < threads; ++t) {
      askers.emplace_back([&] {
        const auto answers = std::make_unique<bool[]>(members);
        filter.may_contain(keys, {answers.get(), members});
        std::size_t hits = 0;
        for (std::size_t i = 0; i < members; ++i) {
          hits += answers[i] && filter.may_contain(keys[i]);
        }
        EXPECT_GT(filter.info().current_fpr, 0);
        found += hits;
      });
    }
  }
  EXPECT_EQ(found, threads * members);
}

std::vector<const bloomset::kind_info*> all_kinds() {
  std::vector<const bloomset::kind_info*> rows;
  for (const auto& row : bloomset::kinds()) rows.push_back(&row);
  return rows;
}

INSTANTIATE_TEST_SUITE_P(every_kind, threads_that_query, testing::ValuesIn(all_kinds()),
                         [](const auto& tested) { return std::string(tested.param->name); });

// Threads insert and ask through views of one filter: what a thread has inserted it finds at once,
// what all have inserted is there when they are done, and the bits are those of one thread.
TEST(threads_of_a_blocked_filter, insert_and_query_at_once) {
  for (const auto layout : {bloomset::block_layout::split_512, bloomset::block_layout::free_512,
                            bloomset::block_layout::parquet_256}) {
    const bloomset::blocked_bloom_spec spec{
        .capacity = threads * members, .fpr = 0.01, .layout = layout};
    bloomset::blocked_bloom filter(spec);
    std::atomic<std::size_t> lost = 0;
    {
      std::vector<std::jthread> workers;
      for (unsigned t = 0; t < threads; ++t) {
        workers.emplace_back([view = filter.concurrent(), t, &lost]() mutable {
          for (std::size_t i = 0; i < members; ++i) {
            const std::string mine = word("key", t * members + i);
            view.insert(mine);
            lost += !view.may_contain(mine);
            static_cast<void>(view.may_contain(word("key", i)));
          }
        });
      }
    }
    EXPECT_EQ(lost, 0U);
    bloomset::blocked_bloom alone(spec);
    for (std::size_t i = 0; i < threads * members; ++i) alone.insert(word("key", i));
    EXPECT_TRUE(std::ranges::equal(filter.bits(), alone.bits()));
    EXPECT_NEAR(static_cast<double>(filter.size()), threads * members, 0.02 * threads * members);
  }
}

TEST(threads_of_a_blocked_filter, build_and_ask_one_batch_together) {
  const auto hashes = hashes_of_stream(1, 400'000);
  // So large that threads insert together.
  bloomset::blocked_bloom filter({.capacity = 30'000'000, .fpr = 0.01});
  filter.insert_parallel(hashes, threads);
  const auto answers = std::make_unique<bool[]>(hashes.size());
  filter.may_contain_parallel(hashes, {answers.get(), hashes.size()}, threads);
  EXPECT_TRUE(std::all_of(answers.get(), answers.get() + hashes.size(), [](bool a) { return a; }));
}

// Two writers, of which one churns in a full filter, where tags move between blocks and through the
// stash, beside readers: what is a member all the while is found at every moment.
TEST(threads_of_a_vector_quotient_filter, ask_while_others_insert_and_erase) {
  bloomset::vector_quotient filter({.capacity = members, .fpr = 0.001});
  const auto room = filter.params().blocks * filter.params().slots;
  const auto keys = hashes_of_stream(1, 2 * room);
  const std::span<const bloomset::hash64> always = std::span(keys).first(members / 2);
  ASSERT_EQ(filter.insert(always).done, always.size());
  std::uint64_t expected = always.size();
  {
    auto shared = filter.concurrent();
    std::atomic<unsigned> writing = 2;
    std::atomic<std::size_t> lost = 0;
    std::atomic<std::uint64_t> inserted = 0;
    {
      std::vector<std::jthread> workers;
      workers.emplace_back([&] {  // to the brim and back
        for (int round = 0; round < 3; ++round) {
          const auto summary = shared.insert(std::span(keys).subspan(members / 2, room));
          EXPECT_EQ(summary.stopped_by, bloomset::insert_outcome::full);
          for (std::size_t i = 0; i < summary.done; ++i) {
            EXPECT_TRUE(shared.erase(keys[members / 2 + i]));
          }
        }
        --writing;
      });
      workers.emplace_back([&] {  // copies of members
        for (std::size_t i = 0; i < 4000; ++i) {
          inserted += is_contained(shared.insert(always[i % 10]));
          EXPECT_GE(shared.count(always[i % 10]), 1 + i / 10);
        }
        --writing;
      });
      for (unsigned t = 0; t < 2; ++t) {
        workers.emplace_back([&] {
          const auto answers = std::make_unique<bool[]>(always.size());
          do {
            shared.may_contain(always, {answers.get(), always.size()});
            for (std::size_t i = 0; i < always.size(); ++i) {
              lost += !answers[i] || (i % 16 == 0 && !shared.may_contain(always[i]));
            }
          } while (writing != 0);
        });
      }
    }
    EXPECT_EQ(lost, 0U);
    EXPECT_EQ(inserted, 4000U);
    expected += inserted;
  }
  EXPECT_EQ(filter.size(), expected);
  for (const auto h : always) EXPECT_TRUE(filter.may_contain(h));
  for (std::size_t i = 0; i < 10; ++i) EXPECT_GE(filter.count(always[i]), 401U);
}

}  // namespace
