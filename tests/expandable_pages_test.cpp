// On which pages a filter grows: huge ones where keys come in batches, and where they come one by
// one none, whose clearing one of them would wait for.

#include <fstream>
#include <sstream>
#include <string>

#include "tests/expandable_filters.hpp"

namespace bloomery::test {
namespace {

// Bytes for which this process has asked for huge pages: "hg" among a mapping's flags (Linux,
// Documentation/filesystems/proc.rst).
std::size_t bytes_on_huge_pages() {
  std::ifstream maps("/proc/self/smaps");
  std::size_t all = 0;
  std::size_t kib = 0;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "Size:") words >> kib;
    if (word != "VmFlags:") continue;
    while (words >> word) all += word == "hg" ? kib * 1024 : 0;
  }
  return all;
}

// Chunks are as large as huge pages from 16 MiB on.
constexpr std::uint64_t keys = 4'000'000;
constexpr expandable_spec long_entries{.capacity = 64, .fpr = 1e-9};

TEST(expandable_pages, batches_grow_a_filter_on_huge_pages_and_single_keys_on_small_ones) {
  const std::size_t before = bytes_on_huge_pages();
  {
    const auto probe = value_of(owned_storage::make(std::size_t{1} << 21));
    if (bytes_on_huge_pages() == before) GTEST_SKIP() << "no huge pages on this system";
  }
  const auto grow = [&](std::size_t batch) {
    expandable f(long_entries);
    for (std::uint64_t at = 0; at < keys; at += batch) {
      const auto some = hashes_from(at, std::min<std::uint64_t>(batch, keys - at));
      if (batch == 1) {
        EXPECT_TRUE(is_contained(f.insert(some[0])));
      } else {
        EXPECT_EQ(f.insert(some).done, some.size());
      }
    }
    EXPECT_GT(f.size_in_bytes(), std::size_t{20} << 20);
    return f;
  };
  for (const std::size_t batch : {std::size_t{1}, detail::least_batch_on_huge_pages - 1}) {
    const expandable f = grow(batch);
    EXPECT_EQ(bytes_on_huge_pages(), before) << "by " << batch;
    const expandable copy = f;
    EXPECT_GT(bytes_on_huge_pages(), before + copy.size_in_bytes() / 4);
  }
  for (const std::size_t batch : {detail::least_batch_on_huge_pages, std::size_t{1} << 20}) {
    const expandable f = grow(batch);
    EXPECT_GT(bytes_on_huge_pages(), before + f.size_in_bytes() / 4) << "by " << batch;
  }
}

}  // namespace
}  // namespace bloomery::test
