#pragma once

// The server's functions for modules, as far as they are used here. No package brings a header for
// them; names, arguments and numbers are those of the servers' documentation ("Modules API
// reference"). The server gives each function by name; those that older servers lack may be null.

#include <cstddef>
#include <cstdint>

namespace bloomery::server {

// What the server hands out, and only it looks into.
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
inline constexpr int error = 1;
inline constexpr int api_version = 1;

enum open_mode : int { open_read = 1, open_write = 2 };
enum key_content : int { key_empty = 0, key_module = 6 };

// Of context_flags; of a null context those of the server, of which the first is one.
inline constexpr int is_replica = 1 << 3;
inline constexpr int is_replicated = 1 << 12;
inline constexpr int is_loading = 1 << 13;
inline constexpr int is_resp3 = 1 << 22;

// Of set_module_options: a failed read from an RDB is ours to report, not the end of the process;
// keys count as modified when we say so; a replica may load a new data set beside the old one.
inline constexpr int option_handles_io_errors = 1 << 0;
inline constexpr int option_signals_modified = 1 << 1;
inline constexpr int option_async_load = 1 << 2;

inline constexpr int event_of_module = 1 << 13;  // class `d` of keyspace events

inline constexpr unsigned setting_immutable = 1U << 0;
inline constexpr unsigned setting_memory = 1U << 7;  // values such as 64mb

// The methods of a type of values, in the order of version 4.
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
  void* (*copy)(string* from, string* to, const void* value);
  int (*defrag)(defrag_context*, string* key, void** value);
  std::size_t (*mem_usage2)(option_context*, const void* value, std::size_t samples);
  std::size_t (*free_effort2)(option_context*, const void* value);
  void (*unlink2)(option_context*, const void* value);
  void* (*copy2)(option_context*, const void* value);
};
inline constexpr std::uint64_t type_methods_version = 4;

// What COMMAND DOCS tells of a command.
enum class argument_type : int { text, integer, real, key, pattern, time, token, one_of };
inline constexpr int argument_optional = 1 << 0;
inline constexpr int argument_multiple = 1 << 1;

struct argument_docs {
  const char* name;
  argument_type type;
  int key_spec;  ///< 0 for the key, else -1
  const char* token;
  const char* summary;
  const char* since;
  int flags;
  const char* deprecated_since;
  const argument_docs* parts;
  const char* display_text;
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
  int begin_search;  ///< 2: by the index that follows
  union {
    struct {
      int position;
    } index;
    struct {
      const char* word;
      int from;
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
  history_docs* history;
  const char* tips;
  int arity;
  key_docs* keys;
  argument_docs* arguments;
};

using command_function = int (*)(context*, string**, int);

// The functions, null until fetch_api() has found them.
struct functions {
  // The module and its commands.
  int (*is_module_name_busy)(const char* name);
  void (*set_module_attributes)(context*, const char* name, int version, int api);
  void (*set_module_options)(context*, int options);
  int (*create_command)(context*, const char* name, command_function, const char* flags, int first,
                        int last, int step);
  command* (*get_command)(context*, const char* name);
  int (*set_command_info)(command*, const command_docs*);
  int (*add_acl_category)(context*, const char* name);                  // optional
  int (*set_command_acl_categories)(command*, const char* categories);  // optional
  int (*context_flags)(context*);
  long long (*milliseconds)();  ///< since 1970
  void (*log)(context*, const char* level, const char* format, ...);

  // Memory.
  void* (*try_alloc)(std::size_t);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*try_calloc)(std::size_t, std::size_t);  // optional
  void (*free)(void*);
  void* (*defrag_alloc)(defrag_context*, void*);  ///< null: it stays where it is

  // Strings.
  string* (*create_string)(context*, const char*, std::size_t);
  void (*free_string)(context*, string*);
  const char* (*string_bytes)(const string*, std::size_t* length);
  int (*string_to_integer)(const string*, long long*);
  int (*string_to_real)(const string*, double*);

  // Replies.
  int (*wrong_arity)(context*);
  int (*reply_error)(context*, const char*);
  int (*reply_simple)(context*, const char*);
  int (*reply_integer)(context*, long long);
  int (*reply_bool)(context*, int);
  int (*reply_null)(context*);
  int (*reply_real)(context*, double);
  int (*reply_bytes)(context*, const char*, std::size_t);
  int (*reply_array)(context*, long);
  int (*reply_map)(context*, long);

  // Keys.
  key* (*open_key)(context*, string* name, int mode);
  void (*close_key)(key*);
  int (*key_type)(key*);
  int (*delete_key)(key*);
  long long (*get_expire)(key*);  // milliseconds that it still has; -1: no end
  int (*set_expire)(key*, long long);
  type* (*value_type)(key*);
  void* (*value)(key*);
  int (*set_value)(key*, type*, void*);
  int (*signal_modified)(context*, string* name);
  int (*notify)(context*, int event_class, const char* event, string* key);
  int (*replicate)(context*, const char* command, const char* format, ...);
  int (*replicate_verbatim)(context*);

  // Types and what is stored.
  type* (*create_type)(context*, const char* name, int version, type_methods*);
  void (*save_unsigned)(io*, std::uint64_t);
  std::uint64_t (*load_unsigned)(io*);
  void (*save_real)(io*, double);
  double (*load_real)(io*);
  void (*save_bytes)(io*, const char*, std::size_t);
  char* (*load_bytes)(io*, std::size_t* length);
  int (*has_io_error)(io*);
  void (*log_io_error)(io*, const char* level, const char* format, ...);
  void (*emit_aof)(io*, const char* command, const char* format, ...);
  void (*digest_bytes)(digest*, const char*, std::size_t);
  void (*digest_end)(digest*);

  // Settings and INFO.
  int (*register_number)(context*, const char* name, long long initial, unsigned flags,
                         long long least, long long most, long long (*get)(const char*, void*),
                         int (*set)(const char*, long long, void*, string** error),
                         int (*apply)(context*, void*, string** error), void* which);  // optional
  int (*register_text)(context*, const char* name, const char* initial, unsigned flags,
                       string* (*get)(const char*, void*),
                       int (*set)(const char*, string*, void*, string** error),
                       int (*apply)(context*, void*, string** error), void* which);  // optional
  int (*register_choice)(context*, const char* name, int initial, unsigned flags,
                         const char** names, const int* values, int count,
                         int (*get)(const char*, void*),
                         int (*set)(const char*, int, void*, string** error),
                         int (*apply)(context*, void*, string** error), void* which);  // optional
  int (*load_settings)(context*);                                                      // optional
  int (*register_info)(context*, void (*)(info_context*, int for_crash_report));
  int (*info_section)(info_context*, const char* name);
  int (*info_number)(info_context*, const char* field, unsigned long long);
  info_data* (*server_info)(context*, const char* section);
  void (*free_server_info)(context*, info_data*);
  unsigned long long (*info_unsigned)(info_data*, const char* field, int* error);
  const char* (*info_text)(info_data*, const char* field);
};

/// The server that loaded this module.
extern functions api;

/// Finds the functions through the pointer that a context begins with. False if one is missing
/// that every server since Redis 7.0 has.
bool fetch_api(context* ctx) noexcept;

}  // namespace bloomery::server
