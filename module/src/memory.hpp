#pragma once

// Memory of filters: taken from the server, so that maxmemory, eviction and INFO count it, and
// limited, so that no command can take all of it.

#include <cstddef>
#include <cstdint>

#include "api.hpp"

namespace bloomery::server {

/// From now on filters take their memory from the server. Needs fetch_api().
void take_memory_from_server() noexcept;

/// Memory that counts as filters'. Throws std::bad_alloc.
void* take_filter_memory(std::size_t size);
void give_back_filter_memory(void* at, std::size_t size) noexcept;

/// Bytes that all filters hold, but those that are being given back by another thread.
std::uint64_t bytes_of_filters() noexcept;

/// While it lives, so many bytes are taken as given back already.
class leaving_bytes {
 public:
  explicit leaving_bytes(std::uint64_t bytes) noexcept;
  leaving_bytes(leaving_bytes&& other) noexcept;
  leaving_bytes(const leaving_bytes&) = delete;
  leaving_bytes& operator=(const leaving_bytes&) = delete;
  leaving_bytes& operator=(leaving_bytes&&) = delete;
  ~leaving_bytes();

 private:
  std::uint64_t bytes_;
};

/// Whether bf.max-memory leaves room for so many more bytes.
bool filters_have_room(std::uint64_t bytes) noexcept;

/// Counts what this thread takes less what it gives back, from when the meter is made.
class memory_meter {
 public:
  memory_meter() noexcept;
  std::int64_t taken() const noexcept;

 private:
  std::int64_t before_;
};

/// Whether the server has room for so many more bytes: below its maxmemory, where a server that
/// evicts makes the room afterwards, and of the machine's memory. Small amounts are not looked at;
/// commands are refused beyond maxmemory anyway.
bool server_has_room(context* ctx, std::uint64_t bytes) noexcept;

}  // namespace bloomery::server
