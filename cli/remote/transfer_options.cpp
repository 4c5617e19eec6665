#include "remote/transfer_options.hpp"

#include <fmt/format.h>

#include <bloomset/plan/units.hpp>

#include "terminal/declare.hpp"

namespace bloomset::cli {

void transfer_options::declare(CLI::App& app) {
  option(app, "--max-bytes", max_bytes,
         fmt::format("read at most SIZE from servers (default {})",
                     format_bytes(transfer_limits::default_max_bytes)))
      .value("SIZE")
      .under(headings::limits);
  option(
      app, "--timeout", timeout,
      fmt::format("stop if a server sends nothing, or hardly anything, for N seconds (default {})",
                  transfer_limits().timeout))
      .value("N")
      .under(headings::limits);
}

result<transfer_limits> transfer_options::read() const {
  transfer_limits limits;
  if (auto ok = read_option("--max-bytes", max_bytes, parse_bytes, limits.max_bytes); !ok) {
    return fail(std::move(ok.error()));
  }
  std::uint64_t seconds = limits.timeout;
  if (auto ok = read_option("--timeout", timeout, parse_count, seconds); !ok) {
    return fail(std::move(ok.error()));
  }
  if (seconds == 0 || seconds > 3600) {
    return fail(errc::invalid_argument,
                fmt::format("--timeout: {} s is out of range; give 1 to 3600", seconds));
  }
  limits.timeout = static_cast<unsigned>(seconds);
  return limits;
}

}  // namespace bloomset::cli
