#include "api.hpp"

#include <array>
#include <cstring>

namespace bloomery::server {

functions api = {};

namespace {

struct entry {
  template <class Function>
  entry(const char* its_name, Function** its_place, bool is_needed = true) noexcept
      : name(its_name), where(static_cast<void*>(its_place)), needed(is_needed) {}

  const char* name;
  void* where;  // a pointer to a function, whatever its type
  bool needed;
};

constexpr bool optional = false;

const std::array entries = {
    entry{"RedisModule_IsModuleNameBusy", &api.is_module_name_busy},
    entry{"RedisModule_SetModuleAttribs", &api.set_module_attributes},
    entry{"RedisModule_SetModuleOptions", &api.set_module_options},
    entry{"RedisModule_CreateCommand", &api.create_command},
    entry{"RedisModule_GetCommand", &api.get_command},
    entry{"RedisModule_SetCommandInfo", &api.set_command_info},
    entry{"RedisModule_AddACLCategory", &api.add_acl_category, optional},
    entry{"RedisModule_SetCommandACLCategories", &api.set_command_acl_categories, optional},
    entry{"RedisModule_GetContextFlags", &api.context_flags},
    entry{"RedisModule_Milliseconds", &api.milliseconds},
    entry{"RedisModule_Log", &api.log},
    entry{"RedisModule_TryAlloc", &api.try_alloc},
    entry{"RedisModule_Calloc", &api.calloc},
    entry{"RedisModule_TryCalloc", &api.try_calloc, optional},
    entry{"RedisModule_Free", &api.free},
    entry{"RedisModule_DefragAlloc", &api.defrag_alloc},
    entry{"RedisModule_CreateString", &api.create_string},
    entry{"RedisModule_FreeString", &api.free_string},
    entry{"RedisModule_StringPtrLen", &api.string_bytes},
    entry{"RedisModule_StringToLongLong", &api.string_to_integer},
    entry{"RedisModule_StringToDouble", &api.string_to_real},
    entry{"RedisModule_WrongArity", &api.wrong_arity},
    entry{"RedisModule_ReplyWithError", &api.reply_error},
    entry{"RedisModule_ReplyWithSimpleString", &api.reply_simple},
    entry{"RedisModule_ReplyWithLongLong", &api.reply_integer},
    entry{"RedisModule_ReplyWithBool", &api.reply_bool},
    entry{"RedisModule_ReplyWithNull", &api.reply_null},
    entry{"RedisModule_ReplyWithDouble", &api.reply_real},
    entry{"RedisModule_ReplyWithStringBuffer", &api.reply_bytes},
    entry{"RedisModule_ReplyWithArray", &api.reply_array},
    entry{"RedisModule_ReplyWithMap", &api.reply_map},
    entry{"RedisModule_OpenKey", &api.open_key},
    entry{"RedisModule_CloseKey", &api.close_key},
    entry{"RedisModule_KeyType", &api.key_type},
    entry{"RedisModule_DeleteKey", &api.delete_key},
    entry{"RedisModule_GetExpire", &api.get_expire},
    entry{"RedisModule_SetExpire", &api.set_expire},
    entry{"RedisModule_ModuleTypeGetType", &api.value_type},
    entry{"RedisModule_ModuleTypeGetValue", &api.value},
    entry{"RedisModule_ModuleTypeSetValue", &api.set_value},
    entry{"RedisModule_SignalModifiedKey", &api.signal_modified},
    entry{"RedisModule_NotifyKeyspaceEvent", &api.notify},
    entry{"RedisModule_Replicate", &api.replicate},
    entry{"RedisModule_ReplicateVerbatim", &api.replicate_verbatim},
    entry{"RedisModule_CreateDataType", &api.create_type},
    entry{"RedisModule_SaveUnsigned", &api.save_unsigned},
    entry{"RedisModule_LoadUnsigned", &api.load_unsigned},
    entry{"RedisModule_SaveDouble", &api.save_real},
    entry{"RedisModule_LoadDouble", &api.load_real},
    entry{"RedisModule_SaveStringBuffer", &api.save_bytes},
    entry{"RedisModule_LoadStringBuffer", &api.load_bytes},
    entry{"RedisModule_IsIOError", &api.has_io_error},
    entry{"RedisModule_LogIOError", &api.log_io_error},
    entry{"RedisModule_EmitAOF", &api.emit_aof},
    entry{"RedisModule_DigestAddStringBuffer", &api.digest_bytes},
    entry{"RedisModule_DigestEndSequence", &api.digest_end},
    entry{"RedisModule_RegisterNumericConfig", &api.register_number, optional},
    entry{"RedisModule_RegisterStringConfig", &api.register_text, optional},
    entry{"RedisModule_RegisterEnumConfig", &api.register_choice, optional},
    entry{"RedisModule_LoadConfigs", &api.load_settings, optional},
    entry{"RedisModule_RegisterInfoFunc", &api.register_info},
    entry{"RedisModule_InfoAddSection", &api.info_section},
    entry{"RedisModule_InfoAddFieldULongLong", &api.info_number},
    entry{"RedisModule_GetServerInfo", &api.server_info},
    entry{"RedisModule_FreeServerInfo", &api.free_server_info},
    entry{"RedisModule_ServerInfoGetFieldUnsigned", &api.info_unsigned},
    entry{"RedisModule_ServerInfoGetFieldC", &api.info_text},
};
// Each function is here once, and each pointer is as wide as a function's.
static_assert(sizeof(functions) == entries.size() * sizeof(void*));

}  // namespace

bool fetch_api(context* ctx) noexcept {
  using getter = int (*)(const char* name, void* function);
  getter get = nullptr;
  std::memcpy(static_cast<void*>(&get), static_cast<const void*>(ctx), sizeof get);
  bool complete = true;
  for (const entry& each : entries) {
    if (get(each.name, each.where) != ok && each.needed) complete = false;
  }
  return complete;
}

}  // namespace bloomery::server
