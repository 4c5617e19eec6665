#pragma once

// Files on web servers that are read in ranges.

#include <bloomset/detail/core/byte_interval.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "remote/transfer.hpp"

namespace bloomset::cli {

/// The requests for one file. Redirects are followed, from https only to https. A request that
/// fails for a reason that may pass, such as a closed connection or status 503, is tried four times
/// in two seconds. Not for several threads at once.
class http_file {
 public:
  /// A part of the file, which lives during the call.
  using part_sink = std::function<void(std::uint64_t at, std::span<const std::byte> bytes)>;

  /// Reads the first `first` bytes of the file. Fails with not_found, unsupported or io; the
  /// sentence begins with the URL. A server that does not send ranges sends the whole file, if it
  /// has at most limits.max_bytes. Precondition: first > 0.
  static result<http_file> open(const std::string& url, const transfer_limits& limits,
                                std::uint64_t first);
  http_file(http_file&&) noexcept;
  http_file& operator=(http_file&&) noexcept;
  ~http_file();

  /// The URL for messages.
  const std::string& name() const noexcept;
  const file_version& version() const noexcept;
  std::uint64_t size() const noexcept { return version().size; }
  /// Whether the server sends ranges. If not, beginning() is the whole file.
  bool has_ranges() const noexcept;
  /// The bytes that open() has read.
  std::span<const std::byte> beginning() const noexcept;

  /// Reads ranges, which are in ascending order, do not overlap and are inside the file. Ranges
  /// that are near each other are requested as one, and up to 64 in one request, if the server
  /// sends several at once. Calls `use` once for each range, or with more bytes than the range.
  /// Fails if the file has changed since open(), or if an answer has other bytes than were
  /// requested. Precondition: has_ranges().
  result<void> read(std::span<const byte_interval> ranges, const part_sink& use);

  /// The cost of read() in bytes: that of the ranges and of an estimated answer for each.
  static std::uint64_t cost_of(std::span<const byte_interval> ranges) noexcept;
  /// The bytes of answers that may still come, by max_bytes.
  std::uint64_t bytes_left() const noexcept;

 private:
  class state;
  explicit http_file(std::unique_ptr<state> made) noexcept;

  std::unique_ptr<state> state_;
};

}  // namespace bloomset::cli
