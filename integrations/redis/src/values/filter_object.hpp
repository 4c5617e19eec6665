#pragma once

#include <memory>

#include "values/filter_value.hpp"
#include "values/received_dump.hpp"

namespace bloomset::server {

/// The value of a key: a filter, or a dump that is still arriving.
struct filter_object {
  // From the server's allocator, so that active defragmentation may move it.
  static void* operator new(std::size_t size);
  static void operator delete(void* memory) noexcept;
  explicit filter_object(std::unique_ptr<filter_value> value) noexcept;
  explicit filter_object(received_dump dump);
  filter_object(const filter_object&) = delete;
  filter_object& operator=(const filter_object&) = delete;
  ~filter_object();

  std::unique_ptr<filter_value> filter;     ///< null while a dump is arriving
  std::unique_ptr<received_dump> arriving;  ///< null once the filter is complete

  filter_spec spec() const noexcept;
  std::uint64_t bytes() const noexcept;
  std::vector<std::byte> dump_header() const;
  byte_pieces dump_payload() const;
  /// Appends bytes of the payload; the last ones turn the dump into a filter. An error leaves the
  /// object unchanged.
  wire_error append(std::uint64_t offset, std::string_view bytes);
  /// Turns a complete dump into a filter. False if it is damaged.
  bool open_if_complete();
};

/// Objects on this server.
std::uint64_t number_of_filters() noexcept;

}  // namespace bloomset::server
