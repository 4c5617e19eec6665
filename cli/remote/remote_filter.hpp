#pragma once

// A filter on a web server, of which only the bytes that queries need are read.

#include <bloomset/any_filter.hpp>
#include <bloomset/partial.hpp>
#include <bloomset/result.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "remote/http.hpp"

namespace bloomset::cli {

/// The bytes of a filter behind a URL, whole or in part.
class remote_filter {
 public:
  /// Reads as much of the file as opening it takes. Reads the whole file instead if it is to be
  /// verified, if the server sends no ranges, or if it is not a Bloomset file, provided that it has
  /// at most limits.max_bytes. Fails as http_file::open() and
  /// missing_to_open() do.
  static result<remote_filter> open(const std::string& url, const transfer_limits& limits,
                                    bool verify);

  /// The URL for messages.
  const std::string& name() const noexcept { return file_.name(); }
  /// Bytes of the file's size. Those that were not read are zeros.
  const mapped_storage& bytes() const noexcept { return bytes_; }
  /// Whether all bytes are there, so that a checksum can be verified.
  bool is_whole() const noexcept { return parts_ == nullptr; }

  /// Reads the bytes that the answers for these keys need. `filter` is open over bytes(). Once the
  /// answers would have cost as much as the file, reads the rest of the file, if max_bytes allows
  /// it.
  result<void> fetch_for(const any_filter& filter, std::span<const std::string_view> keys);

 private:
  explicit remote_filter(http_file file) : file_(std::move(file)) {}

  result<void> fetch(std::span<const byte_interval> ranges);
  result<void> fetch_all();
  result<void> become_whole();

  http_file file_;
  std::unique_ptr<partial_file> parts_;  // null if the file is whole
  mapped_storage bytes_;
  std::uint64_t cost_ = 0;  // of the ranges so far
};

}  // namespace bloomset::cli
