// Memory for the page, instead of the operating system's pages (src/core/system.cpp).

#include <bloomset/detail/core/bits.hpp>
#include <cstdlib>
#include <cstring>

#include "core/system.hpp"

namespace bloomset {
namespace detail {

std::byte* map_pages(std::size_t size, paging) noexcept {
  const std::size_t rounded = round_up(size, 64);
  void* const at = rounded < size ? nullptr : std::aligned_alloc(64, rounded);
  if (at != nullptr) std::memset(at, 0, rounded);
  return static_cast<std::byte*>(at);
}

void unmap_pages(std::byte* data, std::size_t) noexcept {
  std::free(data);  // NOLINT(*-no-malloc): the pair of aligned_alloc
}

std::uint64_t machine_bytes() noexcept {
  return std::uint64_t{1} << 32;  // what 32-bit addresses reach
}

}  // namespace detail
}  // namespace bloomset

// A throw cannot be caught here. It ends the module's call, and the page starts the module again.
// The names are the C++ ABI's (itanium-cxx-abi, "Exception Handling", 2.4).
extern "C" {

void* __cxa_allocate_exception(std::size_t) noexcept {  // NOLINT(bugprone-reserved-identifier)
  __builtin_trap();
}
[[noreturn]] void __cxa_throw(void*, void*,
                              void (*)(void*)) {  // NOLINT(bugprone-reserved-identifier)
  __builtin_trap();
}

// The stack guard that the compiler's 128-bit division uses.
std::uintptr_t __stack_chk_guard = 0x9e3779b9;  // NOLINT(*-reserved-identifier, *-global-variables)
[[noreturn]] void __stack_chk_fail() {          // NOLINT(bugprone-reserved-identifier)
  __builtin_trap();
}

}  // extern "C"
