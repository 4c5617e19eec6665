// The functions of the operating system, the C library and the C++ runtime that the library needs,
// so that the module imports nothing.
//
// There are no exceptions here. The library throws only std::bad_alloc, and a throw ends the
// instance: the host sees a trap, and bloomset_is_out_of_memory() tells the reason.

#include <wasi/api.h>
#include <__verbose_abort>
#include <atomic>
#include <bloomset/detail/core/bits.hpp>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "core/system.hpp"
#include "cpu/dispatch.hpp"
#include "texts.hpp"

namespace {

// NOLINTNEXTLINE(*-avoid-non-const-global-variables): it outlives the call that ended
bool is_out_of_memory = false;

[[noreturn]] void end_without_memory() {
  is_out_of_memory = true;
  __builtin_trap();
}

void* allocate(std::size_t size) {
  void* const at = std::malloc(size == 0 ? 1 : size);  // NOLINT(*-no-malloc): for operator new
  if (at == nullptr) end_without_memory();
  return at;
}

}  // namespace

namespace bloomset::detail {

std::byte* map_pages(std::size_t size, paging) noexcept {
  const std::size_t rounded = round_up(size, 64);
  void* const at = rounded < size ? nullptr : std::aligned_alloc(64, rounded);
  if (at != nullptr) std::memset(at, 0, rounded);
  return static_cast<std::byte*>(at);
}

void unmap_pages(std::byte* data, std::size_t) noexcept {
  std::free(data);  // NOLINT(*-no-malloc): the pair of aligned_alloc
}

// New pages of the memory, which engines back when they are written. The instance ends with them.
std::byte* map_sparse(std::size_t size) noexcept {
  constexpr std::size_t page = 65536;
  if (size > std::size_t{0} - page) return nullptr;
  const std::size_t before = __builtin_wasm_memory_grow(0, round_up(size, page) / page);
  return before == ~std::size_t{0} ? nullptr : reinterpret_cast<std::byte*>(before * page);
}
void unmap_sparse(std::byte* /*data*/, std::size_t /*size*/) noexcept {}

std::uint64_t machine_bytes() noexcept {
  return std::uint64_t{1} << 32;  // what 32-bit addresses reach
}

const std::size_t second_level_cache = std::size_t{1} << 19;
std::atomic<instruction_set> instruction_set_choice{instruction_set::scalar};
instruction_set first_instruction_set() noexcept {
  return instruction_set::scalar;
}

}  // namespace bloomset::detail

BLOOMSET_EXPORT(bloomset_is_out_of_memory) bool bloomset_is_out_of_memory() {
  return is_out_of_memory;
}

void* operator new(std::size_t size) {
  return allocate(size);
}
void* operator new[](std::size_t size) {
  return allocate(size);
}
void operator delete(void* at) noexcept {
  std::free(at);  // NOLINT(*-no-malloc): the pair of operator new
}
void operator delete[](void* at) noexcept {
  std::free(at);  // NOLINT(*-no-malloc)
}
void operator delete(void* at, std::size_t) noexcept {
  std::free(at);  // NOLINT(*-no-malloc)
}
void operator delete[](void* at, std::size_t) noexcept {
  std::free(at);  // NOLINT(*-no-malloc)
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return std::malloc(size == 0 ? 1 : size);  // NOLINT(*-no-malloc)
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return std::malloc(size == 0 ? 1 : size);  // NOLINT(*-no-malloc)
}
void operator delete(void* at, const std::nothrow_t&) noexcept {
  std::free(at);  // NOLINT(*-no-malloc)
}
void operator delete[](void* at, const std::nothrow_t&) noexcept {
  std::free(at);  // NOLINT(*-no-malloc)
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  // NOLINTNEXTLINE(*-no-malloc)
  void* const at = std::aligned_alloc(unit, bloomset::detail::round_up(size, unit));
  if (at == nullptr) end_without_memory();
  return at;
}
void operator delete(void* at, std::align_val_t) noexcept {
  std::free(at);  // NOLINT(*-no-malloc)
}
void operator delete(void* at, std::size_t, std::align_val_t) noexcept {
  std::free(at);  // NOLINT(*-no-malloc)
}

[[noreturn]] void std::terminate() noexcept {
  __builtin_trap();
}

void std::__libcpp_verbose_abort(const char*, ...) {
  __builtin_trap();
}

// The names are those of the C++ ABI (itanium-cxx-abi) and of the C library.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {

void* __cxa_allocate_exception(std::size_t) noexcept {
  end_without_memory();
}
[[noreturn]] void __cxa_throw(void*, void*, void (*)(void*)) {
  end_without_memory();
}
[[noreturn]] void __cxa_pure_virtual() {
  __builtin_trap();
}
// libc++abi's own, which would print.
[[noreturn]] void abort_message(const char*, ...) {
  __builtin_trap();
}
// An instance ends with its memory, without destructors.
int __cxa_atexit(void (*)(void*), void*, void*) {
  return 0;
}

// The stack guard that the compiler's 128-bit division uses.
std::uintptr_t __stack_chk_guard = 0x9e3779b9;  // NOLINT(*-avoid-non-const-global-variables)
[[noreturn]] void __stack_chk_fail() {
  __builtin_trap();
}

_Noreturn void abort() {
  __builtin_trap();
}

// What remains of the C library's streams has nothing to write to.
__wasi_errno_t __wasi_fd_close(__wasi_fd_t) {
  return __WASI_ERRNO_NOTSUP;
}
__wasi_errno_t __wasi_fd_renumber(__wasi_fd_t, __wasi_fd_t) {
  return __WASI_ERRNO_NOTSUP;
}
__wasi_errno_t __wasi_fd_seek(__wasi_fd_t, __wasi_filedelta_t, __wasi_whence_t,
                              __wasi_filesize_t*) {
  return __WASI_ERRNO_NOTSUP;
}
__wasi_errno_t __wasi_fd_write(__wasi_fd_t, const __wasi_ciovec_t*, std::size_t, __wasi_size_t*) {
  return __WASI_ERRNO_NOTSUP;
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
