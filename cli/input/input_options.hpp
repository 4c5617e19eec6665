#pragma once

// The options of verbs that read keys.

#include <bloomset/result.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "input/key_reader.hpp"
#include "input/record_keys.hpp"
#include "memory/memory_limit.hpp"
#include "terminal/cli11_fwd.hpp"

namespace bloomset::cli {

/// The meaning of --skip-bad for verbs whose keys have no types.
inline constexpr const char* skip_bad_without_types =
    "instead of failing, skip lines that are not valid for --keys, and report their number at the "
    "end";

struct input_options {
  std::vector<std::string> names;  ///< none is stdin
  bool nul = false;
  bool crlf = false;
  bool no_progress = false;
  key_choice keys;
  std::string min_count;  ///< of --keys pwned
  memory_limit_option memory;
  /// The file that the verb will replace, which must not be an input. Null if there is none.
  const std::string* writes_to = nullptr;

  /// Declares INPUT..., -0, --crlf, --keys, --memory-limit, --min-count, --skip-bad,
  /// --skip-comments and --no-progress, for a verb that reads keys for that purpose. `has_filter`
  /// tells whether the keys are for a filter that exists (open_keys()).
  void declare(CLI::App& app, keys::purpose why, bool has_filter);
  /// The same without INPUT... and --memory-limit.
  void declare_reading(CLI::App& app, keys::purpose why, bool has_filter);

  /// For a verb that prints lines: leaves the progress line out if stdout is a terminal, where both
  /// would overwrite each other.
  void print_lines() noexcept;

  key_format format() const noexcept {
    return {.end = nul ? '\0' : '\n', .strip_cr = crlf, .drop_mark = crlf};
  }
};

/// Checks files that are named where a user may have written a secret by mistake. A failure names
/// the argument, `what`, with its number if there are several, but not the file.
result<void> check_unshown(std::span<const std::string> names, std::string_view what);

/// The input of --universe: each line is read as a query of it will be, with all keys that it looks
/// up. Fails with invalid_argument if both inputs would read stdin.
result<input_options> input_of_universe(const input_options& members,
                                        const std::vector<std::string>& names);

/// The names of all inputs: a folder is replaced by its files that the reader recognises.
struct input_names {
  std::vector<std::string> files;
  std::string incomplete;  ///< a sentence about the first folder that lacks files, or empty
};
result<input_names> expand_names(const input_options& options, const keys::reader_kind& kind);

/// The reader of --keys. Fails if there is none of that name, or if it reads secrets and the keys
/// are inserted.
result<const keys::reader_kind*> find_reader(const input_options& options);

/// The reader of --partition. Fails if there is none of that name, or if it reads secrets.
result<const keys::reader_kind*> find_partition_reader(const input_options& options);

/// The text of --keys, or the plain reader, with --min-count added.
result<std::string> reader_text(const input_options& options);

}  // namespace bloomset::cli
