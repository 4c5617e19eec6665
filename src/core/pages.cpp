#include "core/pages.hpp"

#include <sys/mman.h>
#if defined(__linux__)
#include <sys/sysinfo.h>
#endif

#include <bloomery/detail/core/bits.hpp>
#include <cstdint>
#include <limits>

namespace bloomery::detail {
namespace {

constexpr std::size_t huge_page = std::size_t{1} << 21;

}  // namespace

// Memory that begins at a multiple of huge_page, with a request for huge pages. With pages of 4 KiB
// nearly every access to a large filter misses the TLB too, which takes 1.4 times as long at 128 MB
// (bench/).
std::byte* map_pages(std::size_t size, [[maybe_unused]] paging how) noexcept {
  const std::size_t pages = round_up(size, 4096);
  if (pages < size || pages + huge_page < pages) return nullptr;
  void* const got = ::mmap(nullptr, pages + huge_page, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (got == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(got);
  const auto at = reinterpret_cast<std::uintptr_t>(begin);
  const std::size_t before = round_up(at, huge_page) - at;
  if (before != 0) ::munmap(begin, before);
  ::munmap(begin + before + pages, huge_page - before);
#if defined(MADV_HUGEPAGE)
  if (how == paging::huge) ::madvise(begin + before, pages, MADV_HUGEPAGE);
#endif
  return begin + before;
}

void unmap_pages(std::byte* data, std::size_t size) noexcept {
  ::munmap(data, size);
}

std::uint64_t machine_bytes() noexcept {
#if defined(__linux__)
  struct sysinfo all{};
  if (::sysinfo(&all) == 0) return (std::uint64_t{all.totalram} + all.totalswap) * all.mem_unit;
#endif
  return std::numeric_limits<std::uint64_t>::max();
}

}  // namespace bloomery::detail
