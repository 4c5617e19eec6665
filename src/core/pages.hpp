#pragma once

// Whole pages of zeroed memory from the system.

#include <bloomery/storage.hpp>
#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomery::detail {

/// At least `size` zero bytes that begin at a multiple of 64 or more, or null. Precondition: size
/// is not 0.
std::byte* map_pages(std::size_t size, paging pages) noexcept;

/// Releases memory of map_pages(), with the requested size.
void unmap_pages(std::byte* data, std::size_t size) noexcept;

/// Memory and swap of the machine in bytes, or the largest number if that is unknown. Systems with
/// vm.overcommit_memory = 1 map any number of pages.
std::uint64_t machine_bytes() noexcept;

}  // namespace bloomery::detail

#pragma GCC visibility pop
