#pragma once

// Temporary files without a name.

#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bloomset::cli {

/// A file in $TMPDIR, or /tmp, that disappears however the process ends. Failures are sentences
/// that name the folder and TMPDIR.
class temporary_file {
 public:
  static result<temporary_file> make();
  temporary_file(temporary_file&& other) noexcept;
  temporary_file& operator=(temporary_file&&) = delete;
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file();

  /// Fails if the folder has less free space.
  static result<void> check_space(std::uint64_t bytes);

  const std::string& folder() const noexcept { return folder_; }
  std::uint64_t size() const noexcept { return size_; }

  result<void> append(std::span<const std::byte> bytes);
  /// Reads bytes that were appended. Precondition: at + to.size() <= size().
  result<void> read(std::uint64_t at, std::span<std::byte> to) const;

  /// Extends an empty file to that size, with disk space for all of it, and maps it for writing.
  /// The mapping outlives this object. Unmap it with munmap().
  result<std::byte*> map(std::size_t size);

 private:
  temporary_file(std::string folder, int file) noexcept : folder_(std::move(folder)), file_(file) {}

  failure no_room(std::string_view what) const;

  std::string folder_;
  int file_;
  std::uint64_t size_ = 0;
};

}  // namespace bloomset::cli
