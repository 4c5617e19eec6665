#pragma once

// The memory that a verb may use.

#include <bloomset/result.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "terminal/cli11_fwd.hpp"

namespace bloomset::cli {

/// The memory that this process could still use: what the machine has available, and what each of
/// its control groups (version 1 or 2) leaves. Empty if unknown. `root` is the folder that has
/// proc and sys.
std::optional<std::uint64_t> free_memory(const std::filesystem::path& root = "/");

/// The memory for a filter and for the keys or hashes that wait for it.
struct memory_limit {
  std::uint64_t bytes;
  bool given;  ///< by the user; the default is only a preference

  /// The share of what waits: a quarter.
  std::uint64_t for_waiting() const noexcept { return bytes / 4; }
  /// Whether a filter of that size fits beside what waits.
  bool fits(std::uint64_t filter) const noexcept { return filter <= for_filter(); }
  std::uint64_t for_filter() const noexcept { return bytes - for_waiting(); }
};

/// --memory-limit, with the same default for every verb that has it.
struct memory_limit_option {
  std::string text;

  void declare(CLI::App& app);
  /// By default half of free_memory(), at least 64 MiB; the largest number if that is unknown.
  /// Fails with invalid_argument.
  result<memory_limit> read() const;
};

}  // namespace bloomset::cli
