// Where the system has no memory left at all, not even for a sentence about it: operations that
// cannot throw say that the filter is full, and go on when there is some again. In a program of its
// own, since it replaces operator new.

#include <gtest/gtest.h>

#include <array>
#include <bloomery/expandable.hpp>
#include <bloomery/memory_source.hpp>
#include <bloomery/vector_quotient.hpp>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <span>
#include <vector>

namespace {

bool is_refused = false;

void* lend(std::size_t size) noexcept {
  return is_refused ? nullptr : std::calloc(1, size);
}
void take_back(void* at, std::size_t /*size*/) noexcept {
  std::free(at);
}

}  // namespace

void* operator new(std::size_t size) {
  void* const got = is_refused ? nullptr : std::malloc(size != 0 ? size : 1);
  if (got == nullptr) throw std::bad_alloc();
  return got;
}
void operator delete(void* at) noexcept {
  std::free(at);
}
void operator delete(void* at, std::size_t /*size*/) noexcept {
  std::free(at);
}

namespace bloomery::test {
namespace {

std::vector<hash64> some_hashes(std::uint64_t n) {
  std::vector<hash64> all(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    all[i] = xxh3_hasher()(std::as_bytes(std::span(&i, 1)));
  }
  return all;
}

// The memory source is the program's, and so for all its tests.
const bool lends = [] {
  use_memory_source({.allocate = lend, .release = take_back});
  return true;
}();

// Inserts all, of which some only once there is memory; how many went in without.
template <class Filter>
std::size_t insert_with_interruption(Filter& filter, std::span<const hash64> all) {
  is_refused = true;
  const std::size_t done = filter.insert(all).done;
  is_refused = false;
  EXPECT_EQ(filter.insert(all.subspan(done)).done, all.size() - done);
  for (const hash64& h : all) EXPECT_TRUE(filter.may_contain(h));
  return done;
}

TEST(no_memory, stops_the_growth_of_a_filter_and_loses_nothing) {
  ASSERT_TRUE(lends);
  const auto all = some_hashes(50'000);
  auto filter = expandable::make({.capacity = 1000, .fpr = 0.01}).value();
  const std::size_t done = insert_with_interruption(filter, all);
  EXPECT_GT(done, 500U);
  EXPECT_LT(done, 5000U);
  EXPECT_EQ(filter.size(), all.size());
}

TEST(no_memory, empties_a_filter_in_its_place) {
  ASSERT_TRUE(lends);
  const auto all = some_hashes(50'000);
  const std::vector<hash64> copies(10, all[0]);
  auto filter = expandable::make({.capacity = 1000, .fpr = 0.01}).value();
  ASSERT_EQ(filter.insert(all).done, all.size());
  ASSERT_EQ(filter.insert(copies).done, copies.size());
  const auto bytes = filter.size_in_bytes();
  is_refused = true;
  filter.clear();
  is_refused = false;
  EXPECT_EQ(filter.size(), 0U);
  for (const hash64& h : all) EXPECT_EQ(filter.count(h), 0U);
  EXPECT_LE(filter.size_in_bytes(), bytes);
  // It goes on as any other, and gives its memory back as soon as that can be done.
  EXPECT_EQ(filter.insert(all).done, all.size());
  for (const hash64& h : all) EXPECT_TRUE(filter.may_contain(h));
  EXPECT_EQ(filter.size(), all.size());
  filter.clear();
  EXPECT_LT(filter.size_in_bytes(), bytes / 10);
}

TEST(no_memory, counts_no_more_copies) {
  ASSERT_TRUE(lends);
  const std::vector<hash64> copies(5000, some_hashes(1)[0]);
  auto filter = expandable::make({.capacity = 1000, .fpr = 0.01}).value();
  EXPECT_EQ(insert_with_interruption(filter, copies), 3U);
  EXPECT_EQ(filter.count(copies[0]), copies.size());
  auto quotient = vector_quotient::make({.capacity = 1000, .fpr = 0.01}).value();
  EXPECT_LT(insert_with_interruption(quotient, copies), copies.size());
  EXPECT_EQ(quotient.count(copies[0]), copies.size());
}

}  // namespace
}  // namespace bloomery::test
