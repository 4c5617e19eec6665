#pragma once

// The part of the server's module API that this module uses. No package ships a header for it;
// names, arguments and numbers follow the servers' documentation ("Modules API reference").

#include <cstddef>
#include <cstdint>
#include <utility>

namespace bloomset::server {

// Objects of the server, opaque to the module.
struct context;
struct string;
struct key;
struct io;
struct type;
struct command;
struct digest;
struct info_context;
struct info_data;
struct defrag_context;
struct option_context;

inline constexpr int ok = 0;
inline constexpr int err = 1;
inline constexpr int api_version = 1;

enum open_mode : int { open_read = 1, open_write = 2 };
enum key_content : int { key_empty = 0, key_module = 6 };

// Bits of context_flags(). A null context gives the flags of the server, such as is_replica.
inline constexpr int is_replica = 1 << 3;
inline constexpr int is_replicated = 1 << 12;
inline constexpr int is_loading = 1 << 13;
inline constexpr int is_resp3 = 1 << 22;

// Bits of set_module_options(): the module reports failed RDB reads, which would end the process
// otherwise; the module says when a key was modified; a replica may load a data set beside the old
// one.
inline constexpr int option_handles_io_errors = 1 << 0;
inline constexpr int option_signals_modified = 1 << 1;
inline constexpr int option_async_load = 1 << 2;

// Classes of keyspace events: `g` and `d`.
inline constexpr int event_generic = 1 << 2;
inline constexpr int event_of_module = 1 << 13;

inline constexpr unsigned setting_memory = 1U << 7;  // values such as 64mb

// Methods of a data type, in the order of version 4.
struct type_methods {
  std::uint64_t version;
  void* (*rdb_load)(io*, int version);
  void (*rdb_save)(io*, void* value);
  void (*aof_rewrite)(io*, string* key, void* value);
  std::size_t (*mem_usage)(const void* value);
  void (*digest)(server::digest*, void* value);
  void (*free)(void* value);
  int (*aux_load)(io*, int version, int when);
  void (*aux_save)(io*, int when);
  int aux_save_triggers;
  std::size_t (*free_effort)(string* key, const void* value);
  void (*unlink)(string* key, const void* value);
  void* (*copy)(string* source, string* destination, const void* value);
  int (*defrag)(defrag_context*, string* key, void** value);
  std::size_t (*mem_usage2)(option_context*, const void* value, std::size_t samples);
  std::size_t (*free_effort2)(option_context*, const void* value);
  void (*unlink2)(option_context*, const void* value);
  void* (*copy2)(option_context*, const void* value);
};
inline constexpr std::uint64_t type_methods_version = 4;

// Documentation of a command, for COMMAND DOCS.
enum class argument_type : int { text, integer, real, key, pattern, time, token, one_of };
inline constexpr int argument_optional = 1 << 0;
inline constexpr int argument_multiple = 1 << 1;

struct argument_docs {
  const char* name = nullptr;
  argument_type type = argument_type::text;
  int key_spec = -1;  ///< index of a key's range
  const char* token = nullptr;
  const char* summary = nullptr;
  const char* since = nullptr;
  int flags = 0;
  const char* deprecated_since = nullptr;
  const argument_docs* parts = nullptr;
  const char* display_text = nullptr;
};

inline constexpr std::uint64_t key_read_only = 1 << 0;
inline constexpr std::uint64_t key_read_write = 1 << 1;
inline constexpr std::uint64_t key_access = 1 << 4;
inline constexpr std::uint64_t key_update = 1 << 5;
inline constexpr std::uint64_t key_insert = 1 << 6;
inline constexpr std::uint64_t key_delete = 1 << 7;

struct key_docs {
  const char* notes;
  std::uint64_t flags;
  int begin_search;  ///< 2: by index
  union {
    struct {
      int position;
    } index;
    struct {
      const char* word;
      int first;
    } keyword;
  } begin;
  int find_keys;  ///< 2: a range
  struct {
    int last;
    int step;
    int limit;
  } range;
};

struct history_docs {
  const char* since;
  const char* changes;
};

struct docs_version {
  int version;
  std::size_t history_size;
  std::size_t key_size;
  std::size_t argument_size;
};

struct command_docs {
  const docs_version* version;
  const char* summary;
  const char* complexity;
  const char* since;
  history_docs* history = nullptr;
  const char* tips = nullptr;
  int arity;
  key_docs* keys;
  argument_docs* arguments;
};

/// A function of the server by its name there, without the prefix "RedisModule_".
struct function_entry {
  function_entry(const char* server_name, bool optional) noexcept
      : name(server_name), is_optional(optional), next(std::exchange(first, this)) {}

  const char* name;
  bool is_optional;  ///< missing from some servers since Redis 7.0
  void* address = nullptr;
  function_entry* next;
  static inline function_entry* first = nullptr;  ///< list of all entries
};

/// Null until fetch_api() has found it.
template <class Signature>
struct function : function_entry {
  explicit function(const char* server_name, bool optional = false) noexcept
      : function_entry(server_name, optional) {}
  function& operator=(Signature* pointer) noexcept {
    address = reinterpret_cast<void*>(pointer);
    return *this;
  }
  operator Signature*() const noexcept { return reinterpret_cast<Signature*>(address); }
};

inline constexpr bool is_optional = true;

using command_function = int (*)(context*, string**, int);
template <class Value>
using setting_getter = Value (*)(const char* name, void* row);
template <class Value>
using setting_setter = int (*)(const char* name, Value, void* row, string** error);
using setting_applier = int (*)(context*, void* row, string** error);

struct functions {
  // The module and its commands.
  function<int(const char* name)> is_module_name_busy{"IsModuleNameBusy"};
  function<void(context*, const char* name, int version, int api)> set_module_attributes{
      "SetModuleAttribs"};
  function<void(context*, int options)> set_module_options{"SetModuleOptions"};
  function<int(context*, const char* name, command_function, const char* flags, int first, int last,
               int step)>
      create_command{"CreateCommand"};
  function<command*(context*, const char* name)> get_command{"GetCommand"};
  function<int(command*, const command_docs*)> set_command_info{"SetCommandInfo"};
  function<int(context*, const char* name)> add_acl_category{"AddACLCategory", is_optional};
  function<int(command*, const char* categories)> set_command_acl_categories{
      "SetCommandACLCategories", is_optional};
  function<int(context*, int position)> redact_argument{"RedactClientCommandArgument", is_optional};
  function<int(context*)> context_flags{"GetContextFlags"};
  function<long long()> milliseconds{"Milliseconds"};  ///< since 1970-01-01 UTC
  function<void(context*, const char* level, const char* format, ...)> log{"Log"};

  // Memory.
  function<void*(std::size_t)> try_alloc{"TryAlloc"};
  function<void*(std::size_t, std::size_t)> calloc{"Calloc"};
  function<void*(std::size_t, std::size_t)> try_calloc{"TryCalloc", is_optional};
  function<void(void*)> free{"Free"};
  /// Null if the memory stays in place.
  function<void*(defrag_context*, void*)> defrag_alloc{"DefragAlloc"};

  // Strings.
  function<string*(context*, const char*, std::size_t)> create_string{"CreateString"};
  function<void(context*, string*)> free_string{"FreeString"};
  function<const char*(const string*, std::size_t* length)> string_bytes{"StringPtrLen"};
  function<int(const string*, long long*)> string_to_integer{"StringToLongLong"};
  function<int(const string*, double*)> string_to_real{"StringToDouble"};

  // Replies.
  function<int(context*)> wrong_arity{"WrongArity"};
  function<int(context*, const char*)> reply_error{"ReplyWithError"};
  function<int(context*, const char*)> reply_simple{"ReplyWithSimpleString"};
  function<int(context*, long long)> reply_integer{"ReplyWithLongLong"};
  function<int(context*, int)> reply_bool{"ReplyWithBool"};
  function<int(context*)> reply_null{"ReplyWithNull"};
  function<int(context*, double)> reply_real{"ReplyWithDouble"};
  function<int(context*, const char*, std::size_t)> reply_bytes{"ReplyWithStringBuffer"};
  function<int(context*, long)> reply_array{"ReplyWithArray"};
  function<int(context*, long)> reply_map{"ReplyWithMap"};

  // Keys.
  function<key*(context*, string* name, int mode)> open_key{"OpenKey"};
  function<void(key*)> close_key{"CloseKey"};
  function<int(key*)> key_type{"KeyType"};
  function<long long(key*)> get_expire{"GetExpire"};  ///< milliseconds left; -1: never expires
  function<int(key*, long long)> set_expire{"SetExpire"};
  function<type*(key*)> value_type{"ModuleTypeGetType"};
  function<void*(key*)> value{"ModuleTypeGetValue"};
  function<int(key*, type*, void*)> set_value{"ModuleTypeSetValue"};
  function<int(context*, string* name)> signal_modified{"SignalModifiedKey"};
  function<int(context*, int event_class, const char* event, string* key)> notify{
      "NotifyKeyspaceEvent"};
  function<int(context*, const char* command, const char* format, ...)> replicate{"Replicate"};
  function<int(context*)> replicate_verbatim{"ReplicateVerbatim"};

  // Data types and their serialization.
  function<type*(context*, const char* name, int version, type_methods*)> create_type{
      "CreateDataType"};
  function<void(io*, std::uint64_t)> save_unsigned{"SaveUnsigned"};
  function<std::uint64_t(io*)> load_unsigned{"LoadUnsigned"};
  function<void(io*, double)> save_real{"SaveDouble"};
  function<double(io*)> load_real{"LoadDouble"};
  function<void(io*, const char*, std::size_t)> save_bytes{"SaveStringBuffer"};
  function<char*(io*, std::size_t* length)> load_bytes{"LoadStringBuffer"};
  function<int(io*)> has_io_error{"IsIOError"};
  function<void(io*, const char* level, const char* format, ...)> log_io_error{"LogIOError"};
  function<void(io*, const char* command, const char* format, ...)> emit_aof{"EmitAOF"};
  function<void(digest*, const char*, std::size_t)> digest_bytes{"DigestAddStringBuffer"};
  function<void(digest*)> digest_end{"DigestEndSequence"};

  // Settings and INFO.
  function<int(context*, const char* name, long long initial, unsigned flags, long long min,
               long long max, setting_getter<long long>, setting_setter<long long>, setting_applier,
               void* row)>
      register_number{"RegisterNumericConfig", is_optional};
  function<int(context*, const char* name, const char* initial, unsigned flags,
               setting_getter<string*>, setting_setter<string*>, setting_applier, void* row)>
      register_text{"RegisterStringConfig", is_optional};
  function<int(context*, const char* name, int initial, unsigned flags, const char** names,
               const int* values, int count, setting_getter<int>, setting_setter<int>,
               setting_applier, void* row)>
      register_choice{"RegisterEnumConfig", is_optional};
  function<int(context*, const char* name, int initial, unsigned flags, setting_getter<int>,
               setting_setter<int>, setting_applier, void* row)>
      register_flag{"RegisterBoolConfig", is_optional};
  function<int(context*)> load_settings{"LoadConfigs", is_optional};
  function<int(context*, void (*)(info_context*, int for_crash_report))> register_info{
      "RegisterInfoFunc"};
  function<int(info_context*, const char* name)> info_section{"InfoAddSection"};
  function<int(info_context*, const char* field, unsigned long long)> info_number{
      "InfoAddFieldULongLong"};
  function<info_data*(context*, const char* section)> server_info{"GetServerInfo"};
  function<void(context*, info_data*)> free_server_info{"FreeServerInfo"};
  function<unsigned long long(info_data*, const char* field, int* error)> info_unsigned{
      "ServerInfoGetFieldUnsigned"};
  function<const char*(info_data*, const char* field)> info_text{"ServerInfoGetFieldC"};
};

extern functions api;

/// Finds all functions through the pointer at the start of a context. False if the server lacks one
/// that is not optional.
bool fetch_api(context* ctx) noexcept;

}  // namespace bloomset::server
