#include "server/api.hpp"

#include <cstring>
#include <string>

namespace bloomset::server {

functions api;

bool fetch_api(context* ctx) noexcept {
  int (*get)(const char* name, void* function) = nullptr;
  std::memcpy(static_cast<void*>(&get), static_cast<const void*>(ctx), sizeof get);
  bool complete = true;
  for (function_entry* entry = function_entry::first; entry != nullptr; entry = entry->next) {
    const std::string name = std::string("RedisModule_") + entry->name;
    if (get(name.c_str(), static_cast<void*>(&entry->address)) != ok && !entry->is_optional) {
      complete = false;
    }
  }
  return complete;
}

}  // namespace bloomset::server
