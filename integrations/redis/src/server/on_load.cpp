// The entry point for Redis and Valkey: RedisModule_OnLoad.

#include "commands/command_table.hpp"
#include "server/api.hpp"
#include "server/memory.hpp"
#include "server/settings.hpp"
#include "valkeybloom/valkey_chain.hpp"
#include "values/filter_object.hpp"
#include "values/filter_type.hpp"

namespace bloomset::server {
namespace {

// Prefix of the settings; clients look for a module of this name.
constexpr const char* module_name = "bf";
constexpr int module_version =
    BLOOMSET_VERSION_MAJOR * 10000 + BLOOMSET_VERSION_MINOR * 100 + BLOOMSET_VERSION_PATCH;

void report_info(info_context* ctx, int) {
  api.info_section(ctx, "filters");
  api.info_number(ctx, "filters", number_of_filters());
  api.info_number(ctx, "filter_bytes", bytes_of_filters());
  api.info_number(ctx, "max_memory",
                  static_cast<unsigned long long>(current_settings().max_memory));
  // Under valkey-bloom's names.
  const valkey_totals totals = totals_of_valkey_filters();
  api.info_section(ctx, "bloom_core_metrics");
  api.info_number(ctx, "bloom_total_memory_bytes", totals.bytes);
  api.info_number(ctx, "bloom_num_objects", totals.objects);
  api.info_number(ctx, "bloom_num_filters_across_objects", totals.filters);
  api.info_number(ctx, "bloom_num_items_across_objects", totals.items);
  api.info_number(ctx, "bloom_capacity_across_objects", totals.capacity);
  const defrag_counts defragmented = defrag_counts_of_valkey_filters();
  api.info_section(ctx, "bloom_defrag_metrics");
  api.info_number(ctx, "bloom_defrag_hits", defragmented.hits);
  api.info_number(ctx, "bloom_defrag_misses", defragmented.misses);
}

bool load(context* ctx, string** argv, int argc) {
  if (api.is_module_name_busy(module_name) != 0) {
    api.log(ctx, "warning", "bloomset: a module of the name '%s' is loaded already", module_name);
    return false;
  }
  api.set_module_attributes(ctx, module_name, module_version, api_version);
  api.set_module_options(ctx,
                         option_handles_io_errors | option_signals_modified | option_async_load);
  use_server_memory();
  // Settings first: the engine decides which commands are in the category `fast`.
  return create_filter_types(ctx) && load_settings(ctx, argv, argc) && create_commands(ctx) &&
         api.register_info(ctx, report_info) == ok;
}

}  // namespace
}  // namespace bloomset::server

extern "C" [[gnu::visibility("default")]] int RedisModule_OnLoad(bloomset::server::context* ctx,
                                                                 bloomset::server::string** argv,
                                                                 int argc) noexcept {
  namespace server = bloomset::server;
  if (!server::fetch_api(ctx)) return server::err;
  try {
    return server::load(ctx, argv, argc) ? server::ok : server::err;
  } catch (const std::exception&) {
    return server::err;
  }
}
