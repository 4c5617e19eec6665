#include "engines.hpp"

#include <utility>

#include "bloom_chain.hpp"
#include "cuckoo_chain.hpp"
#include "native_value.hpp"
#include "window_value.hpp"

namespace bloomery::server {

result<std::uint64_t> planned_bytes(const filter_spec& spec) {
  if (spec.window != 0) return planned_window_bytes(spec);
  if (spec.engine == filter_engine::native) return planned_native_bytes(spec);
  return spec.family == filter_family::bloom ? bloom_chain::planned_bytes(spec)
                                             : cuckoo_chain::planned_bytes(spec);
}

result<std::unique_ptr<filter_value>> make_filter(const filter_spec& spec) {
  if (spec.window != 0) return make_window(spec);
  if (spec.engine == filter_engine::native) return make_native(spec);
  return spec.family == filter_family::bloom ? bloom_chain::make(spec) : cuckoo_chain::make(spec);
}

std::unique_ptr<filter_value> open_filter(received_dump& dump) {
  if (const auto* const chain = std::get_if<chain_shape>(&dump.shape())) {
    auto made = std::make_unique<bloom_chain>(*chain, std::vector<owned_storage>());
    made->take_bits(dump.release());
    return made;
  }
  if (const auto* const cuckoo = std::get_if<cuckoo_shape>(&dump.shape())) {
    auto made = std::make_unique<cuckoo_chain>(*cuckoo, std::vector<owned_storage>());
    made->take_slots(dump.release());
    return made;
  }
  return dump.prefix().spec.window != 0 ? open_window(dump) : open_native(dump);
}

}  // namespace bloomery::server
