#pragma once

// System calls that differ between operating systems, and the failure of a system call. system.cpp
// is the only file of the command line that calls what POSIX does not require.

#include <fmt/format.h>

#include <bloomset/result.hpp>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>

namespace bloomset::cli {

/// "NAME: cannot WHAT: Input/output error", from errno. An empty name is left out.
inline failure system_failure(std::string_view name, std::string_view what) {
  const int error = errno;
  return fail(error == ENOENT ? errc::not_found : errc::io,
              fmt::format("{}{}cannot {}: {}", name, name.empty() ? "" : ": ", what,
                          std::generic_category().message(error)));
}

/// A new file without a name, for reading and writing, or -1 where the system or the file system
/// has none.
int open_nameless(const char* folder) noexcept;

/// Overwrites memory, also where the compiler sees that nothing reads it afterwards.
void wipe(void* memory, std::size_t size) noexcept;

/// A core dump of a process that has secrets would be a permanent copy of them.
void forbid_core_dumps() noexcept;

/// Tells the system that a file is read from its beginning to its end. Pipes refuse it.
void expect_sequential_reads(int file) noexcept;

/// Gives an empty file `size` bytes of zeros that have their room on the disk. Fails with errno.
bool reserve_room(int file, std::uint64_t size) noexcept;

/// Lets the system take the memory of a mapped file's pages. Their content stays in the file.
void release_pages(void* at, std::size_t size) noexcept;

/// Pages of zeros for at least `size` bytes. Throws std::bad_alloc.
char* allocate_pages(std::size_t size);
/// The same pages, and more of them. Throws std::bad_alloc, and then nothing has changed.
char* grow_pages(char* pages, std::size_t size, std::size_t new_size);
void free_pages(char* pages, std::size_t size) noexcept;

/// Bytes of the machine's memory, or 0 if that is unknown.
std::uint64_t machine_memory() noexcept;

}  // namespace bloomset::cli
