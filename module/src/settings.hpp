#pragma once

// What an operator sets: as `bf.NAME` with CONFIG and in the configuration file, where the server
// has settings of modules, and as `NAME VALUE` behind loadmodule everywhere.

#include <bloomery/defaults.hpp>
#include <cstdint>

#include "api.hpp"
#include "arguments.hpp"

namespace bloomery::server {

struct settings {
  /// Of filters that are made without an engine being named.
  filter_engine engine = filter_engine::native;
  double bf_error_rate = default_fpr;
  long long bf_initial_size = 100;
  long long bf_expansion_factor = 2;
  double cf_error_rate = default_fpr;
  long long cf_initial_size = 1024;
  long long cf_bucket_size = 2;
  long long cf_max_iterations = 20;
  long long cf_expansion_factor = 1;
  /// Kept for those who set it: filters of CF.* grow as far as max_filter_size allows.
  long long cf_max_expansions = 32;
  /// Bytes that one filter may take: at its creation, and as it grows. 0: see max_filter_bytes().
  long long max_filter_size = 0;
  /// Bytes that all filters together may take; 0: what the server's maxmemory leaves.
  long long max_memory = 0;
};

/// As they are now; only the main thread reads and writes them.
const settings& current_settings() noexcept;

/// Bytes that one filter may take. Where no limit is set native filters have one of 1 GiB and
/// compatible ones none, as RedisBloom's.
std::uint64_t max_filter_bytes(filter_engine engine) noexcept;

/// Registers them, reads the configuration file's, then the arguments of loadmodule. False, and a
/// line in the log, if one is not known or out of range.
bool load_settings(context* ctx, string** argv, int argc);

// The ranges that requests share with settings.
inline constexpr long long max_capacity = std::int64_t{1} << 30;
inline constexpr long long max_expansion = 32768;
inline constexpr long long max_bucket_size = 255;
inline constexpr long long max_iterations = 65535;
/// Requests above are taken as this.
inline constexpr double max_error_rate = 0.25;

}  // namespace bloomery::server
