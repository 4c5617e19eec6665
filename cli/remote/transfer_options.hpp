#pragma once

// The options of verbs that read from web servers.

#include <bloomset/result.hpp>
#include <string>

#include "remote/http.hpp"
#include "terminal/cli11_fwd.hpp"

namespace bloomset::cli {

struct transfer_options {
  std::string max_bytes;
  std::string timeout;

  /// Declares --max-bytes and --timeout.
  void declare(CLI::App& app);
  /// Fails with invalid_argument for a number that is out of range.
  result<transfer_limits> read() const;
};

}  // namespace bloomset::cli
