#pragma once

// Sources of bytes: files, stdin, and compressed data, which is recognised by its first bytes.

#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomset::cli {

/// A stream of bytes.
class byte_source {
 public:
  byte_source() = default;
  byte_source(const byte_source&) = delete;
  byte_source& operator=(const byte_source&) = delete;
  virtual ~byte_source() = default;

  /// Reads into the front of `into` and returns the number of bytes, which is 0 only at the end.
  /// Waits only for the first byte. Bytes before a failure are returned first. A failure does not
  /// name the file: the caller knows the name and the line. Precondition: `into` is not empty.
  virtual result<std::size_t> read(std::span<char> into) = 0;

  /// Bytes read so far from the file, before decompression.
  virtual std::uint64_t consumed() const noexcept = 0;

  /// Whether read() would have to wait now.
  virtual bool would_wait() const noexcept { return false; }
};

/// The name of stdin in messages.
inline constexpr const char* stdin_name = "stdin";

/// Opens an input by its name on the command line; `-` is stdin. Fails with the name if it is a
/// folder, is missing or may not be read. Does not decompress.
result<std::unique_ptr<byte_source>> open_file(const std::string& name);

/// The size of an input, if it is a regular file. Fails as open_file() does, but with `shown` as
/// the name. Does not read.
result<std::optional<std::uint64_t>> examine_file(const std::string& name,
                                                  const std::string& shown);

/// Whether the name is a folder.
bool is_folder(const std::string& name);

/// The files of a folder and of the folders in it whose base names are `wanted`, sorted by name.
result<std::vector<std::string>> files_in(const std::string& folder,
                                          bool (*wanted)(std::string_view name) noexcept);

/// The same bytes, decompressed if they begin as gzip, zstd, xz or bzip2: any number of members or
/// frames, and packings inside packings. Needs at most about `memory` bytes. Damaged or truncated
/// data is a failure with the offset in the file. Fails with unsupported if the bytes are of
/// another packing or container, or of a filter. Waits only for the bytes that tell the formats
/// apart.
result<std::unique_ptr<byte_source>> unpack(
    std::unique_ptr<byte_source> source,
    std::uint64_t memory = std::numeric_limits<std::uint64_t>::max());

}  // namespace bloomset::cli
