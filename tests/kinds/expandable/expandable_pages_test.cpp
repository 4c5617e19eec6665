// Batches grow a filter on huge pages. Single keys grow it on small pages, because one of them
// would wait until a huge page is cleared.

#include <sys/mman.h>

#include <fstream>
#include <sstream>
#include <string>

#include "tests/kinds/expandable/expandable_filters.hpp"

namespace bloomset::test {
namespace {

// Bytes of this process that are marked for huge pages: the flag "hg" of a mapping (Linux,
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

// Asks the system, without a filter. qemu accepts the advice and ignores it.
bool system_has_huge_pages() {
  const std::size_t before = bytes_on_huge_pages();
  constexpr std::size_t size = std::size_t{1} << 22;
  void* const at =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return false;
  const bool has =
      ::madvise(at, size, MADV_HUGEPAGE) == 0 && bytes_on_huge_pages() >= before + size;
  ::munmap(at, size);
  return has;
}

// From 16 MiB on chunks are as large as huge pages.
constexpr std::uint64_t key_count = 4'000'000;
constexpr expandable_spec long_entries{.capacity = 64, .fpr = 1e-9};

TEST(expandable_pages, batches_grow_a_filter_on_huge_pages_and_single_keys_on_small_ones) {
  const std::size_t before = bytes_on_huge_pages();
  const bool has_huge_pages = system_has_huge_pages();
  // Without huge pages in the system, no filter may be on any.
  const auto expect_huge = [&](const expandable& f, std::size_t batch) {
    const std::size_t min = has_huge_pages ? f.size_in_bytes() / 4 : 0;
    const std::size_t max = has_huge_pages ? 2 * f.size_in_bytes() : 0;
    EXPECT_GE(bytes_on_huge_pages(), before + min) << "by " << batch;
    EXPECT_LE(bytes_on_huge_pages(), before + max) << "by " << batch;
  };
  const auto grow = [&](std::size_t batch) {
    expandable f(long_entries);
    for (std::uint64_t at = 0; at < key_count; at += batch) {
      const auto some = hashes_from(at, std::min<std::uint64_t>(batch, key_count - at));
      if (batch == 1) {
        EXPECT_TRUE(is_contained(f.insert(some[0])));
      } else {
        EXPECT_EQ(f.insert(some).done, some.size());
      }
    }
    EXPECT_GT(f.size_in_bytes(), std::size_t{20} << 20);
    return f;
  };
  for (const std::size_t batch : {std::size_t{1}, detail::min_batch_on_huge_pages - 1}) {
    const expandable f = grow(batch);
    EXPECT_EQ(bytes_on_huge_pages(), before) << "by " << batch;
    const expandable copy = f;
    expect_huge(copy, batch);
  }
  for (const std::size_t batch : {detail::min_batch_on_huge_pages, std::size_t{1} << 20}) {
    const expandable f = grow(batch);
    expect_huge(f, batch);
  }
}

}  // namespace
}  // namespace bloomset::test
