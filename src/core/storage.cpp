#include <bloomset/storage.hpp>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include <bloomset/detail/core/bits.hpp>
#include <bloomset/detail/core/precondition.hpp>
#include <bloomset/detail/core/source_memory.hpp>
#include <bloomset/memory_source.hpp>

#include "core/format.hpp"
#include "core/system.hpp"

namespace bloomset {
namespace {

// From this size on memory comes from the kernel, which zeroes pages on first access. A filter for
// 10^9 keys is then made at once. For smaller sizes malloc is faster than two system calls.
constexpr std::size_t map_threshold = std::size_t{1} << 21;
constexpr std::size_t cache_line = 64;

// The source of memory that the program has set, if any.
memory_source& foreign_source() noexcept {
  static memory_source source;
  return source;
}

// An allocation is a cache line larger than requested, so that it contains an aligned place with a
// word before it. The word is the offset of the place in the allocation.
std::size_t offset_in(const std::byte* whole) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(whole);
  return detail::round_up(begin + sizeof(std::size_t), cache_line) - begin;
}
std::size_t offset_of(const std::byte* data) noexcept {
  return detail::load<std::size_t>(data - sizeof(std::size_t));
}
std::byte* note_offset(std::byte* whole, std::size_t offset) noexcept {
  detail::store(whole + offset - sizeof offset, offset);
  return whole + offset;
}

std::byte* borrow(const memory_source& source, std::size_t size) noexcept {
  if (size > std::numeric_limits<std::size_t>::max() - cache_line) return nullptr;
  auto* const whole = static_cast<std::byte*>(source.allocate(size + cache_line));
  return whole == nullptr ? nullptr : note_offset(whole, offset_in(whole));
}

std::byte* allocate_zeroed(std::size_t size, paging pages) noexcept {
  if (size == 0) return nullptr;
  if (foreign_source().allocate != nullptr) return borrow(foreign_source(), size);
  if (size >= map_threshold) return detail::map_pages(size, pages);
  const std::size_t rounded = detail::round_up(size, cache_line);
  void* at = std::aligned_alloc(cache_line, rounded);
  if (at != nullptr) std::memset(at, 0, rounded);
  return static_cast<std::byte*>(at);
}

void release(std::byte* data, std::size_t size) noexcept {
  if (data == nullptr) return;
  if (foreign_source().allocate != nullptr) {
    foreign_source().release(data - offset_of(data), size + cache_line);
  } else if (size >= map_threshold) {
    detail::unmap_pages(data, size);
  } else {
    std::free(data);  // NOLINT(cppcoreguidelines-no-malloc): the pair of aligned_alloc
  }
}

// The failure for a request of that size. Without memory for the sentence it is two words that need
// none.
failure no_memory_for(std::uint64_t size) noexcept {
  try {
    return detail::format_failure(errc::out_of_memory,
                                  "{} bytes of memory could not be allocated for the filter; plan "
                                  "a smaller one, or use a machine with more memory",
                                  size);
  } catch (const std::bad_alloc&) {
    return fail(errc::out_of_memory, "no memory");
  }
}

}  // namespace

void use_memory_source(const memory_source& source) noexcept {
  foreign_source() = source;
}

failure detail::no_memory(const char* sentence) noexcept {
  try {
    return fail(errc::out_of_memory, sentence);
  } catch (const std::bad_alloc&) {
    return fail(errc::out_of_memory, "no memory");
  }
}

void* detail::take_memory(std::size_t size) {
  const memory_source& source = foreign_source();
  if (source.allocate == nullptr) return ::operator new(size);
  void* const at = source.allocate(size);
  if (at == nullptr) throw std::bad_alloc();
  return at;
}

void detail::give_back_memory(void* at, std::size_t size) noexcept {
  const memory_source& source = foreign_source();
  if (source.allocate == nullptr) {
    ::operator delete(at);
  } else {
    source.release(at, size);
  }
}

result<owned_storage> owned_storage::make(std::uint64_t size, paging pages) {
  if (size > std::numeric_limits<std::ptrdiff_t>::max()) {
    return detail::format_failure(
        errc::out_of_memory,
        "{} bytes are more than this machine can address; plan a smaller filter", size);
  }
  std::byte* data = allocate_zeroed(size, pages);
  if (data == nullptr && size != 0) return no_memory_for(size);
  return owned_storage(data, size);
}

result<owned_storage> owned_storage::copy_of(std::span<const std::byte> from) {
  auto made = make(from.size());
  if (made && !from.empty()) std::memcpy(made->data_, from.data(), from.size());
  return made;
}

void owned_storage::relocate(const memory_mover& mover) noexcept {
  if (data_ == nullptr || foreign_source().allocate == nullptr) return;
  const std::size_t before = offset_of(data_);
  auto* const moved = static_cast<std::byte*>(mover.move(data_ - before, mover.context));
  if (moved == nullptr) return;
  // The new place may have another offset to the cache lines.
  const std::size_t now = offset_in(moved);
  if (now != before) std::memmove(moved + now, moved + before, size_);
  data_ = note_offset(moved, now);
}

owned_storage::owned_storage(const owned_storage& other)
    : owned_storage(detail::or_die(copy_of(other.bytes()))) {}

owned_storage& owned_storage::operator=(const owned_storage& other) {
  if (this != &other) *this = owned_storage(other);
  return *this;
}

owned_storage& owned_storage::operator=(owned_storage&& other) noexcept {
  if (this != &other) {
    release(data_, size_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

owned_storage::~owned_storage() {
  // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): it does not see that a move leaves null.
  release(data_, size_);
}

detail::shared_owner::shared_owner(const shared_owner& other) noexcept : held_(other.held_) {
  if (held_ != nullptr) std::atomic_ref(held_->handles).fetch_add(1, std::memory_order_relaxed);
}

detail::shared_owner::~shared_owner() {
  if (held_ == nullptr) return;
  if (std::atomic_ref(held_->handles).fetch_sub(1, std::memory_order_acq_rel) == 1) delete held_;
}

}  // namespace bloomset
