#pragma once

// A file of a web server, read in its order.

#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "remote/transfer.hpp"

namespace bloomset::cli {

/// The next bytes of the file. A failure ends the transfer and is passed on.
using stream_sink = std::function<result<void>(std::span<const std::byte> bytes)>;

/// Reads a file from byte `have` on, and calls `use` with the bytes in their order. After a
/// transient failure it continues at the byte where it ended. Returns the version of the file.
///
/// `expected` is the version of the first `have` bytes, if the caller knows it. If the file is
/// another one then or changes meanwhile, it fails with incompatible; the bytes so far are useless.
/// limits.max_bytes is the limit of the whole file.
result<file_version> download(const std::string& url, std::uint64_t have,
                              const std::optional<file_version>& expected,
                              const transfer_limits& limits, const stream_sink& use);

}  // namespace bloomset::cli
