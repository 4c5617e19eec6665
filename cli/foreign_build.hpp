#pragma once

// `bloomery build --format`: a filter as another program would have built it.

#include <bloomery/any_filter.hpp>
#include <bloomery/result.hpp>
#include <string>

#include "command.hpp"
#include "key_input.hpp"

namespace bloomery::cli {

struct foreign_build {
  std::string format;
  std::string target;
  bool force = false;
  bool strict = false;
  bool quiet = false;
};

/// Reads all keys and writes the filter. Without a capacity the inputs are read twice, once to
/// count their keys, which a pipe does not allow.
result<status> build_foreign(const foreign_build& how, plan_request request, input_options options);

}  // namespace bloomery::cli
