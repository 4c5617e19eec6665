#include "values/filter_value.hpp"

#include <thread>
#include <utility>

#include "server/memory.hpp"

namespace bloomset::server {

void* filter_value::operator new(std::size_t size) {
  return allocate_filter_memory(size);
}
void filter_value::operator delete(void* memory, std::size_t size) noexcept {
  release_filter_memory(memory, size);
}

std::optional<std::string> filter_value::merge(const filter_value&) {
  return "filters of their engine cannot be merged";
}

void free_later(std::unique_ptr<filter_value> filter) noexcept {
  constexpr std::int64_t large = std::int64_t{1} << 20;
  const auto bytes = static_cast<std::int64_t>(filter ? filter->bytes() : 0);
  if (bytes < large) return;
  add_pending_release(bytes);
  try {
    std::thread([freed = std::move(filter), bytes]() mutable {
      freed.reset();
      add_pending_release(-bytes);
    }).detach();
  } catch (const std::exception&) {  // without a thread, the filter is freed here
    add_pending_release(-bytes);
  }
}

}  // namespace bloomset::server
