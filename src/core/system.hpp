#pragma once

// The calls that differ between operating systems. system.cpp is the only file that knows Linux;
// its portable part needs only POSIX.

#include <bloomset/storage.hpp>
#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomset::detail {

/// At least `size` zero bytes that begin at a multiple of 64 or more, or null. Precondition: size
/// is not 0.
std::byte* map_pages(std::size_t size, paging how) noexcept;

/// Releases memory of map_pages(), with the requested size.
void unmap_pages(std::byte* data, std::size_t size) noexcept;

/// Zero bytes of which only those that are written take memory, so that there may be more of them
/// than the machine has. Null if there is no address space. Precondition: size is not 0.
std::byte* map_sparse(std::size_t size) noexcept;

/// Releases memory of map_sparse(), with the requested size.
void unmap_sparse(std::byte* data, std::size_t size) noexcept;

/// Memory and swap of the machine in bytes, or the largest number if that is unknown. Systems with
/// vm.overcommit_memory = 1 map any number of pages.
std::uint64_t machine_bytes() noexcept;

/// A new file without a name, for writing, or -1 where there is no such file: on other systems than
/// Linux, on some file systems, and without /proc.
int open_nameless(const char* folder, unsigned mode) noexcept;

/// Gives a name to a file of open_nameless(). Fails, with errno, if the name is taken.
bool link_nameless(int file, const char* name) noexcept;

/// Random bits of the system, also where /dev is empty. 0 if it has none.
std::uint64_t random_bits() noexcept;

/// Puts a file's contents, or a folder's names, on the disk. Fails with errno.
bool sync_to_disk(int file) noexcept;

}  // namespace bloomset::detail

#pragma GCC visibility pop
