#include "commands/filter_key.hpp"

#include "values/filter_type.hpp"

namespace bloomset::server {

filter_key::filter_key(const command_call& call, int mode, std::size_t argument) noexcept
    : call_(call), key_(api.open_key(call.ctx, call.argv[argument], mode)) {}

filter_key::~filter_key() {
  if (key_ != nullptr) api.close_key(key_);
}

bool filter_key::is_empty() const noexcept {
  return key_ == nullptr || api.key_type(key_) == key_empty;
}

filter_object* filter_key::object() const noexcept {
  if (is_empty() || api.key_type(key_) != key_module) return nullptr;
  const type* const found = api.value_type(key_);
  const bool is_filter =
      found == filter_type(call_.family, filter_engine::native) ||
      found == filter_type(call_.family, filter_engine::compatible) ||
      (call_.is_bloom() && found == filter_type(call_.family, filter_engine::valkey));
  return is_filter ? static_cast<filter_object*>(api.value(key_)) : nullptr;
}

filter_value& filter_key::filter() const {
  filter_object* const found = object();
  if (found == nullptr) throw refusal(is_empty() ? not_found : wrong_type);
  if (!found->filter) throw refusal("ERR the filter is being loaded; send its remaining chunks");
  return *found->filter;
}

void filter_key::set(std::unique_ptr<filter_object> object) noexcept {
  // A dump that is arriving has the native type, whatever its engine.
  const filter_engine engine = object->filter ? object->spec().engine : filter_engine::native;
  // Setting a value removes the key's expiry.
  const long long expire = is_empty() ? -1 : api.get_expire(key_);
  api.set_value(key_, filter_type(call_.family, engine), object.release());
  if (expire >= 0) api.set_expire(key_, expire);
}

void filter_key::announce(const char* event, int event_class) noexcept {
  if (key_ != nullptr) api.close_key(key_);
  key_ = nullptr;
  api.signal_modified(call_.ctx, call_.key());
  api.notify(call_.ctx, event_class, event, call_.key());
}

}  // namespace bloomset::server
