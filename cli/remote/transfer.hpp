#pragma once

// URLs, and facts about transfers from them.

#include <cstdint>
#include <string>
#include <string_view>

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

}  // namespace bloomset::cli
