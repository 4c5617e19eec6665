// An arena's places keep their bytes and never overlap, and its holes stay within their share.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bloomset/detail/expandable/segment_arena.hpp>
#include <bloomset/memory_source.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

namespace bloomset {
namespace {

// The host's memory, counted.
std::atomic<std::size_t> lent{0};
void* lend(std::size_t size) noexcept {
  lent += size;
  return std::calloc(1, size);
}
void take_back(void* at, std::size_t size) noexcept {
  lent -= size;
  std::free(at);
}

// An arena in which each place has a different pattern.
class filled_arena {
 public:
  void add(std::size_t size) {
    places_.push_back({write(size, next_), next_});
    ++next_;
  }

  /// Makes the new place before it frees the old one, as a new layout does.
  void replace(std::size_t i, std::size_t size) {
    const detail::arena_bytes place = write(size, next_);
    arena_.give_back(places_[i].bytes);
    places_[i] = {place, next_};
    ++next_;
  }

  void give_back_all() {
    for (const held& each : places_) arena_.give_back(each.bytes);
    places_.clear();
  }

  std::size_t used() const {
    std::size_t sum = 0;
    for (const held& each : places_) sum += each.bytes.bytes().size();
    return sum;
  }
  std::size_t size() const { return places_.size(); }
  std::size_t size_of(std::size_t i) const { return places_[i].bytes.bytes().size(); }

  void expect_whole() const {
    std::vector<std::pair<const std::byte*, std::size_t>> extents;
    for (const held& each : places_) {
      const auto bytes = each.bytes.bytes();
      const std::vector<std::byte> pattern(bytes.size(),
                                           static_cast<std::byte>(each.number * 131 + 7));
      EXPECT_EQ(std::memcmp(bytes.data(), pattern.data(), bytes.size()), 0)
          << "place " << each.number;
      extents.emplace_back(bytes.data(), bytes.size());
    }
    std::ranges::sort(extents);
    for (std::size_t i = 1; i < extents.size(); ++i) {
      EXPECT_LE(extents[i - 1].first + extents[i - 1].second, extents[i].first);
    }
  }

 private:
  struct held {
    detail::arena_bytes bytes;
    std::uint64_t number;
  };

  detail::arena_bytes write(std::size_t size, std::uint64_t number) {
    const auto pages = number % 2 == 0 ? paging::huge : paging::one_by_one;
    auto place = arena_.make(size, pages);
    EXPECT_TRUE(place);
    EXPECT_EQ(place->bytes().size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(place->bytes().data()) % 64, 0U);
    std::memset(place->writable_bytes().data(), static_cast<int>((number * 131 + 7) & 0xff), size);
    return *place;
  }

  detail::segment_arena arena_;
  std::vector<held> places_;
  std::uint64_t next_ = 0;
};

// Changes sizes as segments do between two splits: each grows by a tenth until it is halved.
void grow_segments(filled_arena& arena, std::size_t steps, std::mt19937_64& random) {
  constexpr std::size_t max_size = 52'000;
  for (std::size_t step = 0; step < steps; ++step) {
    const std::size_t i = random() % arena.size();
    const std::size_t grown = arena.size_of(i) + arena.size_of(i) / 10;
    if (grown > max_size) {
      arena.replace(i, grown / 2 + 64);
      arena.add(grown / 2);
    } else {
      arena.replace(i, grown);
    }
  }
}

TEST(segment_arena, places_keep_what_was_written_and_never_meet) {
  std::mt19937_64 random(1);
  filled_arena arena;
  for (std::size_t i = 0; i < 64; ++i) arena.add(1 + random() % 40'000);
  for (int round = 0; round < 40; ++round) {
    grow_segments(arena, 50, random);
    arena.expect_whole();
    if (HasFailure()) return;
  }
}

class counted_memory : public testing::Test {
 protected:
  void SetUp() override { use_memory_source({.allocate = lend, .release = take_back}); }
  void TearDown() override { use_memory_source({}); }
};

TEST_F(counted_memory, a_small_filter_has_no_holes) {
  std::mt19937_64 random(2);
  filled_arena arena;
  arena.add(24'000);
  while (arena.used() < 1'500'000) {
    grow_segments(arena, 1, random);
    // Each place has whole cache lines, memory of its own that is aligned to one, and an entry in
    // the lists.
    ASSERT_LE(lent, arena.used() + 256 * arena.size());
  }
}

TEST_F(counted_memory, holes_of_a_large_filter_keep_within_their_share) {
  std::mt19937_64 random(3);
  filled_arena arena;
  for (int i = 0; i < 40; ++i) arena.add(24'000 + random() % 24'000);
  while (arena.used() < 4'000'000) grow_segments(arena, 100, random);
  while (arena.used() < 24'000'000) {
    grow_segments(arena, 100, random);
    // A new chunk alone can be an eighth of the whole.
    ASSERT_LE(static_cast<double>(lent), static_cast<double>(arena.used()) * 1.3);
  }
  // Later a chunk is small compared with the whole.
  ASSERT_LE(static_cast<double>(lent), static_cast<double>(arena.used()) * 1.2);
  arena.expect_whole();
}

TEST_F(counted_memory, what_is_given_back_is_had_no_longer) {
  std::mt19937_64 random(4);
  filled_arena arena;
  for (int i = 0; i < 200; ++i) arena.add(24'000 + random() % 24'000);
  ASSERT_GT(lent, arena.used());
  arena.give_back_all();
  EXPECT_LE(lent, 64U * 200);  // the list of chunks
}

}  // namespace
}  // namespace bloomset
