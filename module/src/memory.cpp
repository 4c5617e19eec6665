#include "memory.hpp"

#include <algorithm>
#include <atomic>
#include <bloomery/memory_source.hpp>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "settings.hpp"

namespace bloomery::server {
namespace {

std::atomic<std::uint64_t> all_bytes = 0;
std::atomic<std::uint64_t> bytes_leaving = 0;
thread_local std::int64_t bytes_of_thread = 0;

// Large memory comes zeroed from the kernel page by page as it is touched, if it is asked for by
// calloc; the calloc that ends the process when there is none is asked only after an attempt.
constexpr std::size_t large = std::size_t{1} << 21;

void* zeroed(std::size_t size) noexcept {
  if (api.try_calloc != nullptr) return api.try_calloc(1, size);
  void* const attempt = api.try_alloc(size);
  if (attempt == nullptr) return nullptr;
  if (size < large) return std::memset(attempt, 0, size);
  api.free(attempt);
  return api.calloc(1, size);
}

void* allocate(std::size_t size) noexcept {
  void* const at = zeroed(size);
  if (at == nullptr) return nullptr;
  all_bytes.fetch_add(size, std::memory_order_relaxed);
  bytes_of_thread += static_cast<std::int64_t>(size);
  return at;
}

void release(void* at, std::size_t size) noexcept {
  api.free(at);
  all_bytes.fetch_sub(size, std::memory_order_relaxed);
  bytes_of_thread -= static_cast<std::int64_t>(size);
}

}  // namespace

void take_memory_from_server() noexcept {
  use_memory_source({.allocate = allocate, .release = release});
}

void* take_filter_memory(std::size_t size) {
  void* const at = allocate(size);
  if (at == nullptr) throw std::bad_alloc();
  return at;
}
void give_back_filter_memory(void* at, std::size_t size) noexcept {
  release(at, size);
}

std::uint64_t bytes_of_filters() noexcept {
  const std::uint64_t all = all_bytes.load(std::memory_order_relaxed);
  return all - std::min(all, bytes_leaving.load(std::memory_order_relaxed));
}

leaving_bytes::leaving_bytes(std::uint64_t bytes) noexcept : bytes_(bytes) {
  bytes_leaving.fetch_add(bytes_, std::memory_order_relaxed);
}
leaving_bytes::leaving_bytes(leaving_bytes&& other) noexcept
    : bytes_(std::exchange(other.bytes_, 0)) {}
leaving_bytes::~leaving_bytes() {
  bytes_leaving.fetch_sub(bytes_, std::memory_order_relaxed);
}

bool filters_have_room(std::uint64_t bytes) noexcept {
  const auto most = static_cast<std::uint64_t>(current_settings().max_memory);
  const std::uint64_t used = bytes_of_filters();
  return most == 0 || (used < most && bytes <= most - used);
}

memory_meter::memory_meter() noexcept : before_(bytes_of_thread) {}

std::int64_t memory_meter::taken() const noexcept {
  return bytes_of_thread - before_;
}

bool server_has_room(context* ctx, std::uint64_t bytes) noexcept {
  constexpr std::uint64_t small = std::uint64_t{1} << 20;
  if (bytes <= small) return true;
  info_data* const info = api.server_info(ctx, "memory");
  if (info == nullptr) return true;
  const auto field = [info](const char* name) {
    int outcome = ok;
    const std::uint64_t value = api.info_unsigned(info, name, &outcome);
    return outcome == ok ? value : 0;
  };
  const std::uint64_t used = field("used_memory");
  const std::uint64_t limit = field("maxmemory");
  const std::uint64_t machine = field("total_system_memory");
  const char* const policy = api.info_text(info, "maxmemory_policy");
  const bool evicts = policy != nullptr && std::string_view(policy) != "noeviction";
  api.free_server_info(ctx, info);
  const auto has_room = [bytes](std::uint64_t most, std::uint64_t taken) {
    return most == 0 || (taken <= most && bytes <= most - taken);
  };
  return has_room(machine, used) && has_room(limit, evicts ? 0 : used);
}

}  // namespace bloomery::server
