#pragma once

// `bloomset build --format`: builds a filter in the format of another program.

#include <bloomset/any_filter.hpp>
#include <bloomset/result.hpp>
#include <string>
#include <vector>

#include "input/key_input.hpp"
#include "terminal/command.hpp"

namespace bloomset::cli {

struct foreign_build {
  std::string format;
  std::string target;
  std::vector<std::string> universe;  ///< inputs of all keys, for formats that are built once
  bool force = false;
  bool strict = false;
  bool quiet = false;
};

/// Reads all keys and writes the filter. A static format is built from the keys and the universe. A
/// clubcard reads files of the universe twice, and the keys of a stream are kept, in a temporary
/// file if they are many. For other formats without a capacity and a size, a first pass counts the
/// keys. Fails if an input is then a pipe.
result<status> build_foreign(const foreign_build& how, plan_request request, input_options options);

}  // namespace bloomset::cli
