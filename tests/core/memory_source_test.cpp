// A program that supplies the memory of filters, and gets all of it back.

#include <gtest/gtest.h>
#include <malloc.h>
#include <bloomset/any_filter.hpp>
#include <bloomset/memory_source.hpp>
#include <bloomset/storage.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace bloomset::test {
namespace {

std::size_t lent = 0;
std::size_t limit = 0;

void* lend(std::size_t size) noexcept {
  if (size > limit - lent) return nullptr;
  lent += size;
  return std::calloc(1, size);
}
void take_back(void* at, std::size_t size) noexcept {
  lent -= size;
  std::free(at);
}

TEST(memory_source, gives_all_of_owned_storage_and_gets_it_back) {
  limit = 5'000'000;
  use_memory_source({.allocate = lend, .release = take_back});
  for (const std::uint64_t size : {1U, 63U, 64U, 1000U, 3'000'000U}) {
    auto made = owned_storage::make(size);
    ASSERT_TRUE(made);
    EXPECT_GE(lent, size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(made->bytes().data()) % 64, 0U);
    EXPECT_TRUE(std::ranges::all_of(made->bytes(), [](std::byte b) { return b == std::byte{0}; }));
    std::ranges::fill(made->writable_bytes(), std::byte{0xff});
    const owned_storage moved = std::move(*made);
    EXPECT_EQ(moved.bytes().back(), std::byte{0xff});
  }
  EXPECT_EQ(lent, 0U);
  const auto too_large = owned_storage::make(6'000'000);
  ASSERT_FALSE(too_large);
  EXPECT_EQ(too_large.error().code, errc::out_of_memory);
  EXPECT_EQ(lent, 0U);
  use_memory_source({});
}

// What `lend` gave, at an address that lies otherwise to the cache lines.
void* to_another_place(void* at, void* moves) noexcept {
  const std::size_t size = ::malloc_usable_size(at);
  void* const moved = std::calloc(1, size + 16 * (++*static_cast<std::size_t*>(moves) % 4));
  std::memcpy(moved, at, size);
  std::memset(at, 0xee, size);
  std::free(at);
  return moved;
}
void* nowhere(void*, void*) noexcept {
  return nullptr;
}

TEST(memory_source, moves_a_filters_memory_and_nothing_else_changes) {
  limit = std::size_t{1} << 30;
  use_memory_source({.allocate = lend, .release = take_back});
  for (const std::string kind : {"blocked_bloom", "bloom", "vector_quotient", "expandable"}) {
    auto filter = (*find_kind(kind))->create({.capacity = 20'000, .fpr = 0.01, .options = {}});
    ASSERT_TRUE(filter) << filter.error().message;
    std::vector<std::string> names;
    for (int i = 0; i < 15'000; ++i) names.push_back("key" + std::to_string(i % 14'000));
    const std::vector<std::string_view> keys(names.begin(), names.end());
    const auto insert = [&](std::size_t first, std::size_t n) {
      ASSERT_TRUE(filter->insert(std::span(keys).subspan(first, n)));
    };
    insert(0, 10'000);
    // Copies that are counted elsewhere than in the table.
    for (int i = 0; i < 50; ++i) insert(7, 1);
    auto same = filter->copy();
    ASSERT_TRUE(same);
    std::size_t moves = 0;
    for (int i = 0; i < 3; ++i) {
      filter->relocate({.move = to_another_place, .context = &moves});
      filter->relocate({.move = nowhere, .context = nullptr});
      EXPECT_EQ(serialize(filter->image()), serialize(same->image())) << kind;
    }
    EXPECT_GE(moves, 3U) << kind;
    // In its new place it works like the filter that was not moved.
    insert(10'000, 5000);
    ASSERT_TRUE(same->insert(std::span(keys).subspan(10'000, 5000)));
    EXPECT_EQ(serialize(filter->image()), serialize(same->image())) << kind;
    for (const auto key : keys) EXPECT_TRUE(filter->may_contain(key));
  }
  EXPECT_EQ(lent, 0U);
  use_memory_source({});
}

}  // namespace
}  // namespace bloomset::test
