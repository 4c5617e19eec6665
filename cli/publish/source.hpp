#pragma once

// The place that published files are read from.

#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "remote/transfer.hpp"

namespace bloomset::cli {

/// Files by name. Each read is of a part, so that a source can continue where it was interrupted.
class published_source {
 public:
  published_source() = default;
  published_source(const published_source&) = delete;
  published_source& operator=(const published_source&) = delete;
  virtual ~published_source() = default;

  /// The next bytes of a file. A failure ends the read and is passed on.
  using sink = std::function<result<void>(std::span<const std::byte> bytes)>;

  /// Calls `use` with the bytes [begin, end) of a file, in their order; fewer if it ends before.
  /// Fails with not_found or io, or with incompatible if the file changes meanwhile.
  virtual result<void> read(const std::string& name, std::uint64_t begin, std::uint64_t end,
                            const sink& use) = 0;
  /// Whether a read may take long, and be interrupted.
  virtual bool is_remote() const noexcept = 0;
  /// The whole name of a file, for messages.
  virtual std::string shown(const std::string& name) const = 0;
};

/// The source of that name: a folder, or a URL of one. `limits` are those of all reads from a URL.
result<std::unique_ptr<published_source>> open_source(const std::string& where,
                                                      const transfer_limits& limits);

}  // namespace bloomset::cli
