#pragma once

// The secret key that a filter's keys are hashed with, from a file or the environment.

#include <bloomset/hash.hpp>
#include <bloomset/result.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "terminal/cli11_fwd.hpp"

namespace bloomset::cli {

struct secret_key_option {
  std::string file;
  bool uses_variable = true;  ///< false for a verb that needs no key

  /// Declares --key-file.
  void declare(CLI::App& app);

  /// Whether the user gives a key: by --key-file, or by the environment variable BLOOMSET_KEY.
  bool is_given() const noexcept;
  /// Where the key is from, for messages.
  std::string source() const;
  /// The key of the file, or that of the variable, or nothing. A key is 32 hexadecimal digits.
  /// Fails if the file cannot be read or if there is no key in it; the sentence does not show the
  /// text. Warns of a file that others may read or write. A process with a key leaves no core dump.
  result<std::optional<hash_key>> read() const;
};

}  // namespace bloomset::cli
