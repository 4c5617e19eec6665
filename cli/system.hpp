#pragma once

// The failure of a system call.

#include <fmt/format.h>

#include <bloomery/result.hpp>
#include <cerrno>
#include <string_view>
#include <system_error>

namespace bloomery::cli {

/// "NAME: cannot WHAT: Input/output error", from errno. An empty name is left out.
inline failure system_failure(std::string_view name, std::string_view what) {
  const int error = errno;
  return fail(error == ENOENT ? errc::not_found : errc::io,
              fmt::format("{}{}cannot {}: {}", name, name.empty() ? "" : ": ", what,
                          std::generic_category().message(error)));
}

}  // namespace bloomery::cli
