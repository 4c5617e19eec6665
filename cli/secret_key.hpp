#pragma once

// The secret key that a filter's keys are hashed with, from a file or the environment.

#include <bloomset/hash.hpp>
#include <bloomset/result.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "cli11_fwd.hpp"

namespace bloomset::cli {

struct secret_key_option {
  std::string file;

  /// Declares --key-file.
  void declare(CLI::App& app);

  /// The key in the file, or that of the environment variable BLOOMSET_KEY, or nothing. A key is
  /// 32 hexadecimal digits. Fails if the file cannot be read or holds no key; the sentence does not
  /// show what it holds.
  result<std::optional<hash_key>> read() const;
};

}  // namespace bloomset::cli
