#pragma once

// Bytes from files, from stdin, from anywhere: gzip and zstd are recognised by their first bytes
// and unpacked. Tests feed their own sources.

#include <bloomery/result.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery::cli {

/// Bytes in order, a piece at a time.
class byte_source {
 public:
  byte_source() = default;
  byte_source(const byte_source&) = delete;
  byte_source& operator=(const byte_source&) = delete;
  virtual ~byte_source() = default;

  /// Fills the front of `into`, which is not empty, and says how far; 0 only at the end. Waits for
  /// the first byte, not for more. A failure says what is wrong but not where: who reads knows the
  /// name and the line. Bytes that precede a failure are given first.
  virtual result<std::size_t> read(std::span<char> into) = 0;

  /// Bytes taken so far from the file itself, before any unpacking.
  virtual std::uint64_t consumed() const noexcept = 0;

  /// Whether read() would have to wait now.
  virtual bool would_wait() const noexcept { return false; }
};

/// What messages call stdin.
inline constexpr const char* stdin_name = "stdin";

/// Opens an input by its name on the command line: `-` is stdin. A folder, a file that is missing
/// or may not be read is a failure, with its name. Nothing is unpacked.
result<std::unique_ptr<byte_source>> open_file(const std::string& name);

/// Looks at an input without reading it: fails as open_file would. The size is known of regular
/// files only. A failure calls it `shown`.
result<std::optional<std::uint64_t>> examine_file(const std::string& name,
                                                  const std::string& shown);

/// Whether a folder is there.
bool is_folder(const std::string& name);

/// The files of a folder whose names, without the folder's, are `wanted`, in the order of their
/// names.
result<std::vector<std::string>> files_in(const std::string& folder,
                                          bool (*wanted)(std::string_view name) noexcept);

/// The same bytes, unpacked if they begin as gzip or as zstd does: any number of members or frames
/// one after the other. Data that ends too early or is damaged is a failure that says near which
/// byte of the file. Waits only for as many bytes as tell the formats apart.
result<std::unique_ptr<byte_source>> unpack(std::unique_ptr<byte_source> packed);

/// Whether bytes begin as those do that unpack() unpacks.
bool begins_packed(std::string_view bytes) noexcept;

}  // namespace bloomery::cli
