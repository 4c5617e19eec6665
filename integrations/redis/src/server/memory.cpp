#include "server/memory.hpp"

#include <algorithm>
#include <atomic>
#include <bloomset/memory_source.hpp>
#include <cstring>
#include <new>

#include "server/api.hpp"

namespace bloomset::server {
namespace {

std::atomic<std::uint64_t> total_bytes = 0;
std::atomic<std::uint64_t> pending_bytes = 0;
thread_local std::int64_t thread_bytes = 0;

void* allocate_zeroed(std::size_t size) noexcept {
  if (api.try_calloc != nullptr) return api.try_calloc(1, size);
  // Without it, calloc ends the process when memory runs out, so try_alloc goes first. Large
  // memory is worth the second call: calloc gets zeroed pages from the kernel when they are
  // touched.
  constexpr std::size_t large = std::size_t{1} << 21;
  void* const memory = api.try_alloc(size);
  if (memory == nullptr) return nullptr;
  if (size < large) return std::memset(memory, 0, size);
  api.free(memory);
  return api.calloc(1, size);
}

void* allocate(std::size_t size) noexcept {
  void* const memory = allocate_zeroed(size);
  if (memory == nullptr) return nullptr;
  total_bytes.fetch_add(size, std::memory_order_relaxed);
  thread_bytes += static_cast<std::int64_t>(size);
  return memory;
}

}  // namespace

void use_server_memory() noexcept {
  use_memory_source({.allocate = allocate, .release = release_filter_memory});
}

void* allocate_filter_memory(std::size_t size) {
  void* const memory = allocate(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void release_filter_memory(void* memory, std::size_t size) noexcept {
  api.free(memory);
  total_bytes.fetch_sub(size, std::memory_order_relaxed);
  thread_bytes -= static_cast<std::int64_t>(size);
}

std::uint64_t bytes_of_filters() noexcept {
  const std::uint64_t total = total_bytes.load(std::memory_order_relaxed);
  return total - std::min(total, pending_bytes.load(std::memory_order_relaxed));
}

void add_pending_release(std::int64_t bytes) noexcept {
  pending_bytes.fetch_add(static_cast<std::uint64_t>(bytes), std::memory_order_relaxed);
}

memory_meter::memory_meter() noexcept : start_(thread_bytes) {}

std::int64_t memory_meter::allocated() const noexcept {
  return thread_bytes - start_;
}

}  // namespace bloomset::server
