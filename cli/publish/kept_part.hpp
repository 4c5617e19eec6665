#pragma once

// The part of a file that has arrived, kept for the next run if this one is interrupted.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomset::cli {

/// A file beside the target of a transfer: TARGET.DIGITS.part, with the first digits of the
/// SHA-256 of the whole. The bytes in it are unchecked, so the whole is to be checked when it is
/// complete. Where such a file cannot be written, or another process has it open, nothing is kept.
class kept_part {
 public:
  /// Keeps nothing.
  kept_part() = default;
  kept_part(const std::string& target, std::string_view sha256);
  kept_part(const kept_part&) = delete;
  kept_part& operator=(const kept_part&) = delete;
  ~kept_part();

  /// The bytes of earlier runs, at most `most`.
  std::vector<std::byte> bytes(std::uint64_t most);
  void append(std::span<const std::byte> bytes) noexcept;
  /// Forgets all bytes.
  void clear() noexcept;

  /// Removes the parts of all files that were on their way to that target.
  static void remove_all(const std::string& target) noexcept;

 private:
  void close() noexcept;

  int file_ = -1;
};

}  // namespace bloomset::cli
