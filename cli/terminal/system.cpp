#include "terminal/system.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <new>

// -DBLOOMSET_PORTABLE compiles the portable part on Linux too, for the tests.
#if defined(__linux__) && !defined(BLOOMSET_PORTABLE)
#define BLOOMSET_LINUX
#include <fcntl.h>

#include <cstring>
#endif

namespace bloomset::cli {
namespace {

// Written rather than skipped, so that the file has no holes.
bool fill_with_zeros(int file, std::uint64_t size) noexcept {
  static constexpr std::array<char, std::size_t{1} << 16> zeros{};
  for (std::uint64_t at = 0; at < size;) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(size - at, zeros.size()));
    const ssize_t written = ::pwrite(file, zeros.data(), count, static_cast<off_t>(at));
    if (written < 0 && errno != EINTR) return false;
    at += written < 0 ? 0 : static_cast<std::uint64_t>(written);
  }
  return true;
}

}  // namespace

void forbid_core_dumps() noexcept {
  const rlimit none{0, 0};
  (void)::setrlimit(RLIMIT_CORE, &none);
}

#if defined(BLOOMSET_LINUX)

int open_nameless(const char* folder) noexcept {
  return ::open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

void wipe(void* memory, std::size_t size) noexcept {
  ::explicit_bzero(memory, size);
}

void expect_sequential_reads(int file) noexcept {
  (void)::posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL);
}

bool reserve_room(int file, std::uint64_t size) noexcept {
  errno = ::posix_fallocate(file, 0, static_cast<off_t>(size));
  // musl does not write the zeros itself where the file system cannot reserve room.
  if (errno == EOPNOTSUPP || errno == EINVAL) return fill_with_zeros(file, size);
  return errno == 0;
}

void release_pages(void* at, std::size_t size) noexcept {
  (void)::madvise(at, size, MADV_DONTNEED);  // glibc's posix_madvise() does nothing
}

char* grow_pages(char* pages, std::size_t size, std::size_t new_size) {
  void* const at = ::mremap(pages, size, new_size, MREMAP_MAYMOVE);
  if (at == MAP_FAILED) throw std::bad_alloc();
  return static_cast<char*>(at);
}

#else

int open_nameless(const char*) noexcept {
  return -1;
}

void release_pages(void* at, std::size_t size) noexcept {
  (void)::posix_madvise(at, size, POSIX_MADV_DONTNEED);
}

char* grow_pages(char* pages, std::size_t size, std::size_t new_size) {
  char* const at = allocate_pages(new_size);
  std::copy_n(pages, size, at);
  free_pages(pages, size);
  return at;
}

void wipe(void* memory, std::size_t size) noexcept {
  volatile auto* const bytes = static_cast<volatile char*>(memory);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = 0;
}

void expect_sequential_reads(int) noexcept {}

bool reserve_room(int file, std::uint64_t size) noexcept {
  return fill_with_zeros(file, size);
}

#endif

char* allocate_pages(std::size_t size) {
  // MAP_ANONYMOUS is not in POSIX, but in every system that has mmap().
  void* const at =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  return static_cast<char*>(at);
}

void free_pages(char* pages, std::size_t size) noexcept {
  ::munmap(pages, size);
}

std::uint64_t machine_memory() noexcept {
#if defined(_SC_PHYS_PAGES)
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) {
    return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
  }
#endif
  return 0;
}

}  // namespace bloomset::cli
