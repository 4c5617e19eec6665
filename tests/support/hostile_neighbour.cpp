// A module beside the one under test, which causes rare events:
//
//     NEIGHBOUR.FAIL n            the n-th C++ allocation after this fails, once; 0: none.
//                                 Replies the number of allocations since the last call.
//     NEIGHBOUR.DELETE event      deletes each key during its events of this name
//     NEIGHBOUR.DELETE event key  deletes another key during events of this name
//
// Allocations fail only if the server also preloads this library.

#include <dlfcn.h>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

namespace {

struct context;
struct string;
struct call_reply;

int (*create_command)(context*, const char*, int (*)(context*, string**, int), const char*, int,
                      int, int);
void (*set_module_attributes)(context*, const char*, int, int);
int (*subscribe)(context*, int, int (*)(context*, int, const char*, string*));
call_reply* (*call)(context*, const char*, const char*, ...);
void (*free_reply)(call_reply*);
int (*reply_integer)(context*, long long);
int (*string_to_integer)(const string*, long long*);
const char* (*string_bytes)(const string*, std::size_t*);

std::atomic<long long> allocations = 0;
std::atomic<long long> failing = 0;

std::string wanted_event;
std::string wanted_key;

int fail(context* ctx, string** argv, int argc) {
  long long n = 0;
  if (argc == 2) string_to_integer(argv[1], &n);
  const long long seen = allocations.exchange(0);
  failing = n;
  return reply_integer(ctx, seen);
}

std::string text_of(const string* text) {
  std::size_t length = 0;
  const char* const bytes = string_bytes(text, &length);
  return {bytes, length};
}

int remember(context* ctx, string** argv, int argc) {
  wanted_event = argc > 1 ? text_of(argv[1]) : std::string();
  wanted_key = argc > 2 ? text_of(argv[2]) : std::string();
  return reply_integer(ctx, argc);
}

int hear(context* ctx, int, const char* event, string* key) {
  if (wanted_event != event) return 0;
  wanted_event.clear();
  call_reply* const reply =
      wanted_key.empty() ? call(ctx, "DEL", "!s", key) : call(ctx, "DEL", "!c", wanted_key.c_str());
  if (reply != nullptr) free_reply(reply);
  return 0;
}

void* take(std::size_t size) {
  const long long n = ++allocations;
  if (failing != 0 && n == failing) throw std::bad_alloc();
  void* const at = std::malloc(size != 0 ? size : 1);
  if (at == nullptr) throw std::bad_alloc();
  return at;
}

}  // namespace

void* operator new(std::size_t size) {
  return take(size);
}
void* operator new[](std::size_t size) {
  return take(size);
}
void operator delete(void* at) noexcept {
  std::free(at);
}
void operator delete[](void* at) noexcept {
  std::free(at);
}
void operator delete(void* at, std::size_t) noexcept {
  std::free(at);
}
void operator delete[](void* at, std::size_t) noexcept {
  std::free(at);
}

/// Valkey 8.1 and later load modules with RTLD_DEEPBIND, by which a module would find the C++
/// library's allocations before these.
extern "C" [[gnu::visibility("default")]] void* dlopen(const char* file, int mode) noexcept {
  void* (*next)(const char*, int) = nullptr;
  void* const found = dlsym(RTLD_NEXT, "dlopen");
  std::memcpy(static_cast<void*>(&next), static_cast<const void*>(&found), sizeof next);
  return next(file, mode & ~RTLD_DEEPBIND);
}

extern "C" [[gnu::visibility("default")]] int RedisModule_OnLoad(context* ctx, string**, int) {
  int (*get)(const char*, void*) = nullptr;
  std::memcpy(static_cast<void*>(&get), static_cast<const void*>(ctx), sizeof get);
  get("RedisModule_CreateCommand", static_cast<void*>(&create_command));
  get("RedisModule_SetModuleAttribs", static_cast<void*>(&set_module_attributes));
  get("RedisModule_SubscribeToKeyspaceEvents", static_cast<void*>(&subscribe));
  get("RedisModule_Call", static_cast<void*>(&call));
  get("RedisModule_FreeCallReply", static_cast<void*>(&free_reply));
  get("RedisModule_ReplyWithLongLong", static_cast<void*>(&reply_integer));
  get("RedisModule_StringToLongLong", static_cast<void*>(&string_to_integer));
  get("RedisModule_StringPtrLen", static_cast<void*>(&string_bytes));
  set_module_attributes(ctx, "neighbour", 1, 1);
  // Events of modules, of keys that have expired, and of keys that are missing.
  constexpr int events = (1 << 13) | (1 << 8) | (1 << 11);
  return create_command(ctx, "neighbour.fail", fail, "", 0, 0, 0) |
         create_command(ctx, "neighbour.delete", remember, "", 0, 0, 0) |
         subscribe(ctx, events, hear);
}
