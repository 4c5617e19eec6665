#include "core/system.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <bloomset/detail/core/bits.hpp>
#include <cstdint>
#include <limits>

// -DBLOOMSET_PORTABLE compiles the portable part on Linux too, for the tests.
#if defined(__linux__) && !defined(BLOOMSET_PORTABLE)
#define BLOOMSET_LINUX
#include <sys/sysinfo.h>

#include <array>
#include <cstdio>
#else
#include <cerrno>
#endif

namespace bloomset::detail {
namespace {

constexpr std::size_t huge_page = std::size_t{1} << 21;
// Linux on ARM64 has pages of up to 64 KiB, macOS of 16 KiB.
constexpr std::size_t largest_page = std::size_t{1} << 16;

}  // namespace

// Memory that begins at a multiple of huge_page, with a request for huge pages. With pages of 4 KiB
// nearly every access to a large filter misses the TLB too, which takes 1.4 times as long at 128 MB
// (bench/).
std::byte* map_pages(std::size_t size, [[maybe_unused]] paging how) noexcept {
  const std::size_t pages = round_up(size, largest_page);
  if (pages < size || pages + huge_page < pages) return nullptr;
  void* const got = ::mmap(nullptr, pages + huge_page, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (got == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(got);
  const auto at = reinterpret_cast<std::uintptr_t>(begin);
  const std::size_t before = round_up(at, huge_page) - at;
  if (before != 0) ::munmap(begin, before);
  ::munmap(begin + before + pages, huge_page - before);
#if defined(BLOOMSET_LINUX)
  if (how == paging::huge) ::madvise(begin + before, pages, MADV_HUGEPAGE);
#endif
  return begin + before;
}

void unmap_pages(std::byte* data, std::size_t size) noexcept {
  ::munmap(data, round_up(size, largest_page));
}

std::byte* map_sparse(std::size_t size) noexcept {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#if defined(MAP_NORESERVE)
  flags |= MAP_NORESERVE;
#endif
  void* const got = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, -1, 0);
  return got == MAP_FAILED ? nullptr : static_cast<std::byte*>(got);
}

void unmap_sparse(std::byte* data, std::size_t size) noexcept {
  ::munmap(data, size);
}

std::uint64_t random_bits() noexcept {
  std::uint64_t bits = 0;
  return ::getentropy(&bits, sizeof bits) == 0 ? bits : 0;
}

bool sync_to_disk(int file) noexcept {
#if defined(F_FULLFSYNC)
  // After fsync() the data may still be in the disk's cache on macOS. Some file systems have no
  // F_FULLFSYNC.
  if (::fcntl(file, F_FULLFSYNC) == 0) return true;
#endif
  return ::fsync(file) == 0;
}

#if defined(BLOOMSET_LINUX)

namespace {

std::array<char, 32> path_of(int file) noexcept {
  std::array<char, 32> path{};
  (void)std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", file);
  return path;
}

}  // namespace

std::uint64_t machine_bytes() noexcept {
  struct sysinfo all{};
  if (::sysinfo(&all) != 0) return std::numeric_limits<std::uint64_t>::max();
  return (std::uint64_t{all.totalram} + all.totalswap) * all.mem_unit;
}

int open_nameless(const char* folder, unsigned mode) noexcept {
  const int file = ::open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  if (file < 0 || ::access(path_of(file).data(), F_OK) == 0) return file;
  ::close(file);  // without /proc it could get no name
  return -1;
}

bool link_nameless(int file, const char* name) noexcept {
  return ::linkat(AT_FDCWD, path_of(file).data(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}

#else

std::uint64_t machine_bytes() noexcept {
  return std::numeric_limits<std::uint64_t>::max();
}

int open_nameless(const char*, unsigned) noexcept {
  return -1;
}

bool link_nameless(int, const char*) noexcept {
  errno = ENOTSUP;
  return false;
}

#endif

}  // namespace bloomset::detail
