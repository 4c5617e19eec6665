#pragma once

// The options that size a filter, alike on every verb that makes one.

#include <bloomery/any_filter.hpp>
#include <bloomery/result.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "cli11_fwd.hpp"

namespace bloomery::cli {

struct plan_options {
  std::string capacity, fpr, confidence, memory, bits, kind;
  unsigned hashes = 0;
  std::uint64_t seed = 0;
  std::vector<std::string> with;  ///< NAME=VALUE, the kind's own options

  /// Declares --capacity, --fpr, --confidence, --memory, --bits, --hashes, --kind, --seed and
  /// --with.
  void declare(CLI::App& app);

  /// The request they make; a text that is no number is invalid_argument, naming the option.
  result<plan_request> request() const;
};

}  // namespace bloomery::cli
