#pragma once

// The place that published files are read from.

#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "remote/http.hpp"

namespace bloomset::cli {

/// Files by name. Each read is of a part, so that a source can continue where it was interrupted.
class published_source {
 public:
  published_source() = default;
  published_source(const published_source&) = delete;
  published_source& operator=(const published_source&) = delete;
  virtual ~published_source() = default;

  /// The bytes [begin, end) of a file; fewer if it ends before. Fails with not_found or io.
  /// Allocates no more than the file has.
  virtual result<std::vector<std::byte>> read(const std::string& name, std::uint64_t begin,
                                              std::uint64_t end) = 0;
  /// The whole name of a file, for messages.
  virtual std::string shown(const std::string& name) const = 0;
};

/// The source of that name: a folder, or a URL of one. `limits` are those of all reads from a URL.
result<std::unique_ptr<published_source>> open_source(const std::string& where,
                                                      const transfer_limits& limits);

}  // namespace bloomset::cli
