#pragma once

// Memory of filters. The server allocates it, so that maxmemory, eviction and INFO count it.

#include <cstddef>
#include <cstdint>

namespace bloomset::server {

/// From this call on filters allocate through the server. Needs fetch_api().
void use_server_memory() noexcept;

/// Memory that counts as filters'. Throws std::bad_alloc.
void* allocate_filter_memory(std::size_t size);
void release_filter_memory(void* memory, std::size_t size) noexcept;

/// Bytes that all filters hold, without those that another thread is freeing.
std::uint64_t bytes_of_filters() noexcept;

/// Adds to the bytes that count as freed although a thread is still freeing them.
void add_pending_release(std::int64_t bytes) noexcept;

/// Filter memory that this thread allocated minus released since the meter was made.
class memory_meter {
 public:
  memory_meter() noexcept;
  std::int64_t allocated() const noexcept;

 private:
  std::int64_t start_;
};

}  // namespace bloomset::server
