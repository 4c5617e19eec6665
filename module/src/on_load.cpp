// Where the server begins: RedisModule_OnLoad, a name that Valkey knows too.

#include <array>

#include "api.hpp"
#include "command_table.hpp"
#include "filter_type.hpp"
#include "memory.hpp"
#include "settings.hpp"

namespace bloomery::server {
namespace {

// The name that clients and settings know these commands by.
constexpr const char* module_name = "bf";
constexpr int module_version =
    BLOOMERY_VERSION_MAJOR * 10000 + BLOOMERY_VERSION_MINOR * 100 + BLOOMERY_VERSION_PATCH;

void tell_info(info_context* ctx, int) {
  api.info_section(ctx, "filters");
  api.info_number(ctx, "filters", number_of_filters());
  api.info_number(ctx, "filter_bytes", bytes_of_filters());
  api.info_number(ctx, "max_memory",
                  static_cast<unsigned long long>(current_settings().max_memory));
}

bool load(context* ctx, string** argv, int argc) {
  if (api.is_module_name_busy(module_name) != 0) {
    api.log(ctx, "warning", "bloomery: a module of the name '%s' is loaded already", module_name);
    return false;
  }
  api.set_module_attributes(ctx, module_name, module_version, api_version);
  api.set_module_options(ctx,
                         option_handles_io_errors | option_signals_modified | option_async_load);
  take_memory_from_server();
  for (const char* const category : {"bloom", "cuckoo"}) {
    if (api.add_acl_category != nullptr && api.add_acl_category(ctx, category) != ok) return false;
  }
  return create_filter_types(ctx) && create_commands(ctx, bf_commands()) &&
         create_commands(ctx, cf_commands()) && load_settings(ctx, argv, argc) &&
         api.register_info(ctx, tell_info) == ok;
}

}  // namespace
}  // namespace bloomery::server

extern "C" [[gnu::visibility("default")]] int RedisModule_OnLoad(bloomery::server::context* ctx,
                                                                 bloomery::server::string** argv,
                                                                 int argc) noexcept {
  namespace server = bloomery::server;
  if (!server::fetch_api(ctx)) return server::error;
  try {
    return server::load(ctx, argv, argc) ? server::ok : server::error;
  } catch (const std::exception&) {
    return server::error;
  }
}
