// What the headers say of threads: any number may query a filter at once. Run under the thread
// sanitizer, which sees a write hidden in a const call.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <bloomery/bloomery.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t members = 4000;
constexpr unsigned threads = 4;

std::string name_of(std::size_t i) {
  return "key-" + std::to_string(i);
}

class threads_that_query : public testing::TestWithParam<const bloomery::kind_info*> {};

TEST_P(threads_that_query, find_every_member_at_once) {
  auto filter = GetParam()->create({.capacity = members, .fpr = 0.01, .options = {}});
  ASSERT_TRUE(filter) << filter.error().message;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < members; ++i) names.push_back(name_of(i));
  const std::vector<std::string_view> keys(names.begin(), names.end());
  ASSERT_TRUE(filter->insert(keys));

  std::atomic<std::size_t> found = 0;
  {
    std::vector<std::jthread> askers;
    for (unsigned t = 0; t < threads; ++t) {
      askers.emplace_back([&] {
        const auto answers = std::make_unique<bool[]>(members);
        filter->may_contain(keys, {answers.get(), members});
        std::size_t hits = 0;
        for (std::size_t i = 0; i < members; ++i) {
          hits += answers[i] && filter->may_contain(keys[i]);
        }
        EXPECT_GT(filter->info().current_fpr, 0);
        found += hits;
      });
    }
  }
  EXPECT_EQ(found, threads * members);
}

std::vector<const bloomery::kind_info*> all_kinds() {
  std::vector<const bloomery::kind_info*> rows;
  for (const auto& row : bloomery::kinds()) rows.push_back(&row);
  return rows;
}

INSTANTIATE_TEST_SUITE_P(every_kind, threads_that_query, testing::ValuesIn(all_kinds()),
                         [](const auto& tested) { return std::string(tested.param->name); });

}  // namespace
