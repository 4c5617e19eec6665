#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "server/api.hpp"
#include "values/filter_spec.hpp"

namespace bloomset::server {

/// A string's bytes, valid as long as the string.
std::string_view bytes_of(const string* text) noexcept;

/// Compares ASCII words regardless of case. Empty words are not equal to anything.
bool equal_words(std::string_view a, std::string_view b) noexcept;

/// One call of a command.
struct command_call {
  context* ctx;
  filter_family family;  ///< BF.* or CF.*
  std::span<string*> argv;

  bool is_bloom() const noexcept { return family == filter_family::bloom; }
  std::string_view word(std::size_t i) const noexcept { return bytes_of(argv[i]); }
  string* key() const noexcept { return argv[1]; }
  /// The arguments from `first` on. Throws std::bad_alloc.
  std::vector<std::string_view> words_from(std::size_t first) const;
  /// The index of a word among the arguments from `first` on.
  std::optional<std::size_t> find(std::string_view word, std::size_t first) const noexcept;

  /// Hides an argument from MONITOR, SLOWLOG and the log, in servers that can.
  void redact(std::size_t i) const noexcept;

  /// Whether limits apply. They do not to commands that the primary or the append-only file
  /// repeats: these were accepted before.
  bool is_limited() const noexcept;
};

}  // namespace bloomset::server
