#pragma once

// Files on web servers: read in ranges, or as a whole. http.cpp needs libcurl; without it every
// request fails with one sentence.

#include <bloomset/detail/core/byte_interval.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomset::cli {

/// Whether the name begins with http:// or https://.
bool is_url(std::string_view name) noexcept;

/// The URL for messages: without a user's name and password.
std::string shown_url(std::string_view url);

/// The limits of all requests for one file.
struct transfer_limits {
  static constexpr std::uint64_t default_max_bytes = std::uint64_t{64} << 20;

  std::uint64_t max_bytes = default_max_bytes;  ///< of all answers together, without headers
  unsigned timeout = 20;  ///< seconds with less than 256 bytes per second, after which it is over
};

/// The state of a file on a server, by the headers of an answer. Empty texts are unknown.
struct file_version {
  std::uint64_t size = 0;
  std::string etag;
  std::string modified;  ///< Last-Modified

  /// Whether both can be of one state of the file: equal sizes, and equal ETags if both are known,
  /// else equal times.
  bool agrees_with(const file_version& other) const noexcept;
};

/// The requests for one file. Redirects are followed, from https only to https. A request that
/// fails for a reason that may pass, such as a closed connection or status 503, is tried four times
/// in two seconds. Not for several threads at once.
class http_file {
 public:
  /// A part of the file, which lives during the call.
  using part_sink = std::function<void(std::uint64_t at, std::span<const std::byte> bytes)>;
  /// The next bytes of the file. A failure ends the transfer and is passed on.
  using stream_sink = std::function<result<void>(std::span<const std::byte> bytes)>;

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

/// Reads a file from byte `have` on, and calls `use` with the bytes in their order. After a
/// transient failure it continues at the byte where it ended. Returns the version of the file.
///
/// `expected` is the version of the first `have` bytes, if the caller knows it. If the file is
/// another one then or changes meanwhile, it fails with incompatible; the bytes so far are useless.
/// limits.max_bytes is the limit of the whole file.
result<file_version> download(const std::string& url, std::uint64_t have,
                              const std::optional<file_version>& expected,
                              const transfer_limits& limits, const http_file::stream_sink& use);

}  // namespace bloomset::cli
