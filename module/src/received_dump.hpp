#pragma once

// A dump of a native filter while it comes in: by BF.LOADCHUNK, from an RDB, or from a filter that
// is copied. Layout: docs/server.md, "Dumps".
//
//     header:   | "BLMRYDMP" | version, u32 | expansion, u32 | header and parameters of a filter
//     file | payload:  the filter file's payload

#include <bloomery/storage.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "arguments.hpp"

namespace bloomery::server {

inline constexpr wire_error bad_data = "ERR received bad data";

class received_dump {
 public:
  received_dump() = default;

  /// Begins one with its header. Nothing is allocated for what has not come yet.
  wire_error begin(std::string_view header);

  /// The next bytes of the payload, which have to be those at `offset`.
  wire_error take(std::uint64_t offset, std::string_view bytes);
  /// Forgets the last bytes again.
  void give_back(std::size_t size) noexcept { filled_ -= size; }

  bool is_complete() const noexcept { return filled_ == file_header_ + expected_; }
  std::uint64_t expected_bytes() const noexcept { return expected_; }
  std::uint32_t expansion() const noexcept { return expansion_; }
  std::uint64_t bytes() const noexcept { return file_.bytes().size(); }

  std::vector<std::byte> header() const;
  std::span<const std::byte> payload() const noexcept { return file().subspan(file_header_); }
  /// The filter file, as far as it is there.
  std::span<const std::byte> file() const noexcept { return file_.bytes().first(filled_); }

 private:
  bool append(std::string_view bytes);

  owned_storage file_;  // with room at its end
  std::size_t filled_ = 0;
  std::size_t file_header_ = 0;
  std::uint64_t expected_ = 0;
  std::uint32_t expansion_ = 0;
};

/// The header of a dump: what begins it, and what serialize_header() gave.
std::vector<std::byte> dump_header_of(std::uint32_t expansion,
                                      std::span<const std::byte> file_header);

}  // namespace bloomery::server
