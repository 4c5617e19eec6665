// The system has no memory left, not even for an error sentence. Operations that cannot throw
// report a full filter, and work again when there is memory. Operations that throw change nothing.
// This is a separate program, because it replaces operator new.

#include <gtest/gtest.h>

#include <array>
#include <bloomset/expandable.hpp>
#include <bloomset/memory_source.hpp>
#include <bloomset/vector_quotient.hpp>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <span>
#include <vector>

#include "tests/support/filter_types.hpp"

namespace {

bool is_refused = false;
// The number of allocations that still succeed: all of them, and those of filters' memory.
std::size_t allocations_left = std::numeric_limits<std::size_t>::max();
std::size_t loans_left = std::numeric_limits<std::size_t>::max();

bool may_allocate() noexcept {
  if (is_refused || allocations_left == 0) return false;
  --allocations_left;
  return true;
}

void* lend(std::size_t size) noexcept {
  if (loans_left == 0) return nullptr;
  --loans_left;
  return may_allocate() ? std::calloc(1, size) : nullptr;
}
void take_back(void* at, std::size_t /*size*/) noexcept {
  std::free(at);
}

}  // namespace

// Not inlined: otherwise g++ pairs them with another allocation.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t& /*unused*/) noexcept {
  return may_allocate() ? std::malloc(size != 0 ? size : 1) : nullptr;
}
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const got = operator new(size, std::nothrow);
  if (got == nullptr) throw std::bad_alloc();
  return got;
}
[[gnu::noinline]] void operator delete(void* at) noexcept {
  std::free(at);
}
[[gnu::noinline]] void operator delete(void* at, std::size_t /*size*/) noexcept {
  std::free(at);
}

namespace bloomset::test {
namespace {

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
  const auto all = hashes_of_stream(0, 50'000);
  auto filter = expandable::make({.capacity = 1000, .fpr = 0.01}).value();
  const std::size_t done = insert_with_interruption(filter, all);
  EXPECT_GT(done, 500U);
  EXPECT_LT(done, 5000U);
  EXPECT_EQ(filter.size(), all.size());
}

TEST(no_memory, empties_a_filter_in_its_place) {
  ASSERT_TRUE(lends);
  const auto all = hashes_of_stream(0, 50'000);
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
  // It works like any other, and releases its memory as soon as it can.
  EXPECT_EQ(filter.insert(all).done, all.size());
  for (const hash64& h : all) EXPECT_TRUE(filter.may_contain(h));
  EXPECT_EQ(filter.size(), all.size());
  filter.clear();
  EXPECT_LT(filter.size_in_bytes(), bytes / 10);
}

TEST(no_memory, counts_no_more_copies) {
  ASSERT_TRUE(lends);
  const std::vector<hash64> copies(5000, hashes_of_stream(0, 1)[0]);
  auto filter = expandable::make({.capacity = 1000, .fpr = 0.01}).value();
  EXPECT_EQ(insert_with_interruption(filter, copies), 3U);
  EXPECT_EQ(filter.count(copies[0]), copies.size());
  auto quotient = vector_quotient::make({.capacity = 1000, .fpr = 0.01}).value();
  EXPECT_LT(insert_with_interruption(quotient, copies), copies.size());
  EXPECT_EQ(quotient.count(copies[0]), copies.size());
}

// Copies by assignment -------------------------------------------------------------------------

/// A filter of n keys of any kind, planned for them.
template <class F>
F filter_of(std::uint64_t n, double fpr) {
  if constexpr (buildable<F>) {
    return built_of<F>(hashes_of_stream(0, n), fpr, n);
  } else {
    auto f = make<F>(n, fpr, n);
    for (const std::string& key : words("key", n)) f.insert(key);
    // Copies that kinds which count them keep beside the table.
    for (int copy = 0; copy < 10; ++copy) f.insert("key-0");
    return f;
  }
}

template <class F>
class no_memory_copy : public ::testing::Test {};
TYPED_TEST_SUITE(no_memory_copy, kind_types, filter_names);

// Whichever of its allocations is refused.
TYPED_TEST(no_memory_copy, by_assignment_is_all_or_nothing) {
  ASSERT_TRUE(lends);
  const auto small = filter_of<TypeParam>(50, 0.2);
  const auto large = filter_of<TypeParam>(60'000, 0.01);
  for (const auto& [from, into] : {std::pair(&large, &small), std::pair(&small, &large)}) {
    const auto before = file_bytes(*into);
    const auto wanted = file_bytes(*from);
    bool done = false;
    std::size_t refusals = 0;
    for (std::size_t allowed = 0; !done; ++allowed) {
      TypeParam filter = *into;
      allocations_left = allowed;
      try {
        filter = *from;
        done = true;
      } catch (const std::bad_alloc&) {
        ++refusals;
      }
      allocations_left = std::numeric_limits<std::size_t>::max();
      ASSERT_EQ(filter.hash_function().seed(), (done ? *from : *into).hash_function().seed());
      ASSERT_EQ(file_bytes(filter), done ? wanted : before) << allowed;
    }
    EXPECT_GE(refusals, 1U);
  }
}

template <class F>
class no_memory_merge : public ::testing::Test {};
TYPED_TEST_SUITE(no_memory_merge, filter_types_that<can_merge>, filter_names);

// Kinds that need none for it succeed at once.
TYPED_TEST(no_memory_merge, says_so_and_changes_nothing) {
  ASSERT_TRUE(lends);
  const auto original = filter_of<TypeParam>(3000, 0.01);
  const auto other = filter_of<TypeParam>(3000, 0.01);
  const auto before = file_bytes(original);
  for (const bool with_itself : {false, true}) {
    bool done = false;
    for (std::size_t allowed = 0; !done; ++allowed) {
      auto filter = original;
      loans_left = allowed;
      const auto merged = filter.merge(with_itself ? filter : other);
      loans_left = std::numeric_limits<std::size_t>::max();
      // Without room for all, which is found out when there is memory.
      done = merged || merged.error().code == errc::full;
      if (!done) {
        EXPECT_EQ(merged.error().code, errc::out_of_memory) << merged.error().message;
      }
      if (!merged) {
        ASSERT_EQ(file_bytes(filter), before) << allowed;
      }
    }
  }
}

TYPED_TEST(no_memory_copy, to_itself_changes_nothing_and_needs_none) {
  ASSERT_TRUE(lends);
  auto filter = filter_of<TypeParam>(1000, 0.01);
  const auto before = file_bytes(filter);
  const TypeParam& same = filter;
  is_refused = true;
  filter = same;
  is_refused = false;
  EXPECT_EQ(file_bytes(filter), before);
}

}  // namespace
}  // namespace bloomset::test
