#pragma once

// The options that size a filter, the same for every verb that creates one.

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
  std::uint64_t seed = default_seed;
  std::vector<std::string> with;  ///< NAME=VALUE, the options of the kind

  /// Declares --capacity, --fpr, --confidence, --memory, --bits, --hashes, --kind, --seed and
  /// --with.
  void declare(CLI::App& app);

  /// The request. Fails with invalid_argument and the name of the option if a text is not a number.
  result<plan_request> request() const;
};

}  // namespace bloomery::cli
