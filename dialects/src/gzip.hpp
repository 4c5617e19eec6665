#pragma once

// Filters packed by gzip, in memory.

#include <zlib.h>

#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace bloomset::dialects {

bool is_gzip(std::span<const std::byte> bytes) noexcept;

/// Unpacks the members of a gzip file piece by piece, into the caller's memory. Zeros after a
/// member are skipped, as gzip does: tapes and block devices pad with them.
class gunzip_stream {
 public:
  /// Fails with out_of_memory.
  static result<gunzip_stream> open(std::span<const std::byte> packed);

  /// Unpacks until `into` is full, the last member ends or the data is damaged. Returns the bytes
  /// written.
  std::size_t fill(std::span<std::byte> into) noexcept;

  /// Fails unless the last member ended, with the right checksum and only zeros behind it. Call it
  /// after fill() returned less than it was given.
  result<void> ended_well() const;

 private:
  struct closer {
    void operator()(z_stream* stream) const noexcept;
  };

  gunzip_stream() = default;

  /// Skips zeros, and begins the member after them if there is one.
  void next_member() noexcept;

  std::span<const std::byte> left_;
  std::unique_ptr<z_stream, closer> stream_;  // zlib refuses a stream that was moved
  int outcome_ = Z_OK;
};

/// Unpacks the front of a gzip file. Returns the bytes written.
std::size_t gunzip_front(std::span<const std::byte> packed, std::span<std::byte> into) noexcept;

/// Upper bound of the unpacked size: a match of 258 bytes takes at least two bits.
constexpr std::uint64_t max_unpacked(std::uint64_t packed) noexcept {
  constexpr std::uint64_t ratio = std::uint64_t{258} * 4;
  return packed < ~std::uint64_t{0} / ratio ? packed * ratio : ~std::uint64_t{0};
}

/// One gzip member of all pieces. Fails with out_of_memory.
result<std::vector<std::byte>> gzip(const std::vector<std::span<const std::byte>>& pieces);

}  // namespace bloomset::dialects
