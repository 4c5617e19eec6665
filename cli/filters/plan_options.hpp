#pragma once

// The options that size a filter, the same for every verb that creates one.

#include <bloomset/any_filter.hpp>
#include <bloomset/result.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "terminal/cli11_fwd.hpp"
#include "terminal/secret_key.hpp"

namespace bloomset::cli {

class plan_options {
 public:
  std::string capacity, fpr, confidence, memory, bits, kind;
  unsigned hashes = 0;
  std::optional<std::uint64_t> seed;
  std::string hash;
  secret_key_option key;
  std::vector<std::string> with;  ///< NAME=VALUE, the options of the kind

  /// Declares --capacity, --fpr, --confidence, --memory, --bits, --hashes, --kind, --seed, --hash,
  /// --key-file and --with.
  void declare(CLI::App& app);

  /// The request. Fails with invalid_argument and the name of the option if a text is not a number.
  result<plan_request> request() const;

 private:
  // Sets the seed or the secret key, as --hash needs one.
  result<void> choose_seed(plan_request& request) const;
};

}  // namespace bloomset::cli
