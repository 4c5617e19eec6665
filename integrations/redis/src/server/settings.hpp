#pragma once

// The operator's settings: `bf.NAME` for CONFIG and the configuration file, in servers that support
// settings of modules, and `NAME VALUE` after loadmodule in every server.

#include <bloomset/defaults.hpp>

#include "server/api.hpp"
#include "values/filter_spec.hpp"

namespace bloomset::server {

/// Where an RDB file has the bits of a sub-filter of valkey-bloom: after its numbers, as in
/// release 1.0, or before them, as in builds before that release.
enum class valkey_rdb_order : int { numbers_first, bits_first };

struct settings {
  /// Engine of filters that are created without ENGINE.
  filter_engine engine = filter_engine::native;
  /// Hash function of native filters that are created without HASH.
  filter_hash hash = filter_hash::siphash;
  double bf_error_rate = default_fpr;
  long long bf_initial_size = 100;
  long long bf_expansion_factor = 2;
  double cf_error_rate = default_fpr;
  long long cf_initial_size = 1024;
  long long cf_bucket_size = 2;
  long long cf_max_iterations = 20;
  long long cf_expansion_factor = 1;
  /// Sub-filters of a compatible CF.* filter. Native filters have no such limit.
  long long cf_max_expansions = 32;
  // valkey-bloom's, of filters of its engine.
  long long bloom_capacity = 100;
  long long bloom_expansion = 2;
  double bloom_fp_rate = 0.01;
  double bloom_tightening_ratio = 0.5;
  valkey_rdb_order bloom_rdb_order = valkey_rdb_order::numbers_first;
  bool bloom_use_random_seed = true;
  bool bloom_defrag_enabled = true;
  /// Bytes of one filter, as valkey-bloom counts them.
  long long bloom_memory_usage_limit = 128LL << 20;
  /// Bytes of one filter. 0: 1 GiB for native filters, and no limit for others.
  long long max_filter_size = 0;
  /// Bytes of all filters together. 0: no limit beside the server's maxmemory.
  long long max_memory = 0;
};

/// The present settings. Only the main thread reads and writes them.
const settings& current_settings() noexcept;

/// Registers the settings and reads them from the configuration file, then from the arguments of
/// loadmodule. False, with a line in the log, if one is unknown or out of range.
bool load_settings(context* ctx, string** argv, int argc);

}  // namespace bloomset::server
