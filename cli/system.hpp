#pragma once

// The sentence for what the operating system refused.

#include <fmt/format.h>

#include <bloomery/result.hpp>
#include <cerrno>
#include <string_view>
#include <system_error>

namespace bloomery::cli {

/// "cannot WHAT: Input/output error", by errno as it stands; with `name: ` before it if there is
/// one.
inline tl::unexpected<failure> system_failure(std::string_view name, std::string_view what) {
  const int error = errno;
  return fail(error == ENOENT ? errc::not_found : errc::io,
              fmt::format("{}{}cannot {}: {}", name, name.empty() ? "" : ": ", what,
                          std::generic_category().message(error)));
}

}  // namespace bloomery::cli
