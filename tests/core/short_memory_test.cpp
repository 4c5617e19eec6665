// There is some memory, but not enough: for helper threads, for a large block, or after a number of
// allocations. Operations fall back or report the failure; none ends the program. This is a
// separate program, because it replaces operator new.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bloomset/bloomset.hpp>
#include <bloomset/memory_source.hpp>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <thread>
#include <vector>

#include "tests/support/words.hpp"

namespace {

constexpr std::size_t any_size = std::numeric_limits<std::size_t>::max();

const std::thread::id first_thread = std::this_thread::get_id();
std::atomic<bool> only_first_thread = false;  // gets memory
std::atomic<std::size_t> max_size = any_size;
std::atomic<std::size_t> allocations_left = any_size;
std::atomic<std::size_t> lent = 0;  // bytes, in all

bool is_granted(std::size_t size) noexcept {
  if (size > max_size) return false;
  if (only_first_thread && std::this_thread::get_id() != first_thread) return false;
  if (allocations_left == 0) return false;
  if (allocations_left != any_size) --allocations_left;
  return true;
}

void* lend(std::size_t size) noexcept {
  if (!is_granted(size)) return nullptr;
  lent += size;
  return std::calloc(1, size);
}
void take_back(void* at, std::size_t /*size*/) noexcept {
  std::free(at);
}

}  // namespace

// g++ 12 inlines only one of the two operators, and then takes them for a mismatched pair.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

void* operator new(std::size_t size, const std::nothrow_t& /*unused*/) noexcept {
  return is_granted(size) ? std::malloc(size != 0 ? size : 1) : nullptr;
}
void* operator new(std::size_t size) {
  void* const got = operator new(size, std::nothrow);
  if (got == nullptr) throw std::bad_alloc();
  return got;
}
void operator delete(void* at) noexcept {
  std::free(at);
}
void operator delete(void* at, std::size_t /*size*/) noexcept {
  std::free(at);
}

namespace bloomset::test {
namespace {

// The memory source is the program's, and so for all its tests.
const bool lends = [] {
  use_memory_source({.allocate = lend, .release = take_back});
  return true;
}();

TEST(short_memory, of_helper_threads_leaves_a_batch_to_one_thread) {
  ASSERT_TRUE(lends);
  // 36 MiB, and the keys that make it worth while to bring the batch together by region.
  const auto all = hashes_of_stream(0, 1'300'000);
  blocked_bloom wanted({.capacity = 30'000'000, .fpr = 0.01});
  const auto of_one = wanted.insert(all);
  blocked_bloom filter({.capacity = 30'000'000, .fpr = 0.01});
  const auto answers = std::make_unique<bool[]>(all.size());
  only_first_thread = true;
  const auto of_many = filter.insert_parallel(all, 4);
  filter.may_contain_parallel(all, std::span(answers.get(), all.size()), 4);
  only_first_thread = false;
  EXPECT_EQ(of_many.done, of_one.done);
  EXPECT_EQ(of_many.inserted, of_one.inserted);
  EXPECT_EQ(of_many.maybe_present, of_one.maybe_present);
  EXPECT_EQ(filter.size(), wanted.size());
  EXPECT_TRUE(std::ranges::equal(filter.bits(), wanted.bits()));
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_TRUE(answers[i]) << i;
}

// Keys are counted, although the batch begins anew without groups after a part of it.
TEST(short_memory, in_the_middle_of_a_batch_loses_no_count) {
  ASSERT_TRUE(lends);
  const auto all = hashes_of_stream(0, 4'500'000);
  blocked_bloom wanted({.capacity = 5'000'000, .fpr = 0.01});
  const auto of_one = wanted.insert(all);
  bool has_enough = false;
  for (std::size_t allowed = 0; !has_enough; ++allowed) {
    ASSERT_LT(allowed, 200U);
    blocked_bloom filter({.capacity = 5'000'000, .fpr = 0.01});
    allocations_left = allowed;
    const auto of_many = filter.insert_parallel(all, 2);
    has_enough = allocations_left != 0;
    allocations_left = any_size;
    ASSERT_EQ(of_many.done, all.size()) << allowed;
    ASSERT_EQ(of_many.inserted, of_one.inserted) << allowed;
    ASSERT_EQ(filter.size(), wanted.size()) << allowed;
    ASSERT_TRUE(std::ranges::equal(filter.bits(), wanted.bits())) << allowed;
  }
}

TEST(short_memory, of_helper_threads_ends_a_build_with_a_failure) {
  ASSERT_TRUE(lends);
  // Of fuse, two shards or more; the ribbon has some hundred.
  const auto all = hashes_of_stream(0, 4'000'000);
  only_first_thread = true;
  const auto fused = fuse::build({.fpr = 0.01, .threads = 3}, all);
  const auto ribboned = ribbon::build({.fpr = 0.01, .threads = 3}, all);
  only_first_thread = false;
  ASSERT_FALSE(fused);
  EXPECT_EQ(fused.error().code, errc::out_of_memory);
  ASSERT_FALSE(ribboned);
  EXPECT_EQ(ribboned.error().code, errc::out_of_memory);
}

// `build` with fewer and fewer allocations at its disposal, down to none: a filter or a failure.
template <class Filter>
void expect_failures_without_memory() {
  const std::vector<std::uint64_t> keys = {1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
  std::size_t refused = 0;
  for (std::size_t allowed = 0;; ++allowed) {
    ASSERT_LT(allowed, 1000U);
    allocations_left = allowed;
    const auto made = Filter::build({.fpr = 0.01, .threads = 1}, keys);
    allocations_left = any_size;
    if (made) break;
    ASSERT_EQ(made.error().code, errc::out_of_memory) << allowed;
    ASSERT_FALSE(made.error().message.empty()) << allowed;
    ++refused;
  }
  EXPECT_GT(refused, 3U);
}

TEST(short_memory, fails_a_build_from_keys_wherever_it_ends) {
  ASSERT_TRUE(lends);
  {
    SCOPED_TRACE("fuse");
    expect_failures_without_memory<fuse>();
  }
  SCOPED_TRACE("ribbon");
  expect_failures_without_memory<ribbon>();
}

TEST(short_memory, for_the_hashes_of_keys_fails_a_build) {
  ASSERT_TRUE(lends);
  const std::vector<std::uint64_t> keys(1'000'000, 7);
  max_size = 1'000'000;
  const auto fused = fuse::build({.fpr = 0.01}, keys);
  const auto ribboned = ribbon::build({.fpr = 0.01}, keys);
  max_size = any_size;
  ASSERT_FALSE(fused);
  EXPECT_EQ(fused.error().code, errc::out_of_memory);
  ASSERT_FALSE(ribboned);
  EXPECT_EQ(ribboned.error().code, errc::out_of_memory);
}

// Its segments of 64 KiB at most could be had one after the other for a long time.
TEST(short_memory, refuses_a_growing_filter_of_many_segments_at_once) {
  ASSERT_TRUE(lends);
  lent = 0;
  const auto vast = expandable::make({.capacity = std::uint64_t{1} << 40, .fpr = 0.01});
  ASSERT_FALSE(vast);
  EXPECT_EQ(vast.error().code, errc::out_of_memory);
  EXPECT_EQ(lent, 0U);
}

}  // namespace
}  // namespace bloomset::test
