// insert_absent() with a batch gives the same bytes as with its keys one by one, however many are
// new.

#include <gtest/gtest.h>

#include <random>

#include "tests/kinds/expandable/expandable_filters.hpp"

namespace bloomset::test {
namespace {

constexpr std::size_t max_batch = 200;

class absent_keys : public ::testing::TestWithParam<double> {};

TEST_P(absent_keys, of_a_batch_are_inserted_as_they_are_one_after_the_other) {
  std::mt19937_64 random(11);
  expandable batched({.capacity = 64, .fpr = 0.02});
  expandable single({.capacity = 64, .fpr = 0.02});
  // Some keys have more copies than the table holds.
  for (std::uint64_t i = 0; i < 40; ++i) {
    for (int copy = 0; copy < 5; ++copy) {
      ASSERT_EQ(batched.insert(hash_of(i)), single.insert(hash_of(i)));
    }
  }
  std::uint64_t known = 40;
  std::array<bool, max_batch> added{};
  for (int round = 0; round < 400; ++round) {
    std::vector<hash64> batch(1 + random() % max_batch);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const bool is_new = std::generate_canonical<double, 53>(random) < GetParam();
      const bool is_twice = i != 0 && random() % 16 == 0;
      batch[i] = is_twice ? batch[random() % i] : hash_of(is_new ? known++ : random() % known);
    }
    const insert_summary done = batched.insert_absent(batch, added);
    insert_summary wanted;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      bool is_added = false;
      const auto one = single.insert_absent(std::span(batch).subspan(i, 1), {&is_added, 1});
      wanted.done += one.done;
      wanted.inserted += one.inserted;
      wanted.maybe_present += one.maybe_present;
      ASSERT_EQ(added.at(i), is_added) << i << " of round " << round;
    }
    ASSERT_EQ(done.done, wanted.done);
    ASSERT_EQ(done.inserted, wanted.inserted);
    ASSERT_EQ(done.maybe_present, wanted.maybe_present);
    if (round % 5 == 0) {
      const hash64 gone = hash_of(random() % known);
      ASSERT_EQ(batched.erase(gone), single.erase(gone));
    }
  }
  EXPECT_EQ(file_bytes(batched), file_bytes(single));
}

INSTANTIATE_TEST_SUITE_P(shares, absent_keys, ::testing::Values(0.0, 0.05, 0.3, 0.6, 0.9, 1.0));

// Among the keys are hashes that agree in all bits that choose a segment and differ in those of
// cells, until one finds no room.
TEST(absent_key, without_room_is_where_a_batch_ends) {
  expandable f({.capacity = 64, .fpr = 1e-9});
  std::uint64_t n = 0;
  std::array<bool, max_batch> added{};
  insert_summary done;
  std::vector<hash64> batch;
  while (done.done == batch.size()) {
    ASSERT_LT(n, 200'000U);
    batch.clear();
    for (std::size_t i = 0; i < max_batch; ++i, ++n) {
      const hash64 chosen{hash_of(n).value << 8 | 0x56};
      batch.push_back(i % 4 == 3 ? batch[i - 1] : i % 4 == 2 ? hash_of(n % 1000) : chosen);
    }
    const std::uint64_t size = f.size();
    done = f.insert_absent(batch, added);
    EXPECT_EQ(f.size(), size + done.inserted);
    EXPECT_EQ(done.inserted + done.maybe_present, done.done);
    std::size_t counted = 0;
    for (std::size_t i = 0; i < done.done; ++i) {
      counted += static_cast<std::size_t>(added.at(i));
      ASSERT_TRUE(f.may_contain(batch[i])) << i;
    }
    EXPECT_EQ(counted, done.inserted);
  }
  EXPECT_EQ(done.stopped_by, insert_outcome::full);
  for (std::size_t i = done.done; i < batch.size(); ++i) EXPECT_FALSE(added.at(i)) << i;
  const auto bytes = file_bytes(f);
  bool is_added = true;
  const auto again = f.insert_absent(std::span(batch).subspan(done.done, 1), {&is_added, 1});
  EXPECT_EQ(again.stopped_by, insert_outcome::full);
  EXPECT_EQ(again.done, 0U);
  EXPECT_EQ(file_bytes(f), bytes);
}

}  // namespace
}  // namespace bloomset::test
