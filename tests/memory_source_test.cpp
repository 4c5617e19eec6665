// A program that gives filters their memory, and gets all of it back.

#include <gtest/gtest.h>
#include <bloomery/memory_source.hpp>
#include <bloomery/storage.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace bloomery::test {
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

}  // namespace
}  // namespace bloomery::test
