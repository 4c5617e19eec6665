#include "values/engines.hpp"

#include "redisbloom/bloom_chain.hpp"
#include "redisbloom/cuckoo_chain.hpp"
#include "values/native_value.hpp"
#include "values/window_value.hpp"

namespace bloomset::server {
namespace {

template <class Filter>
result<std::uint64_t> planned_chain_bytes(const filter_spec& spec) {
  const auto shape = Filter::plan(spec);
  if (!shape) return fail(shape.error());
  return shape->bytes_of(0);
}

template <class Filter>
result<std::unique_ptr<filter_value>> make_chain(const filter_spec& spec) {
  const auto shape = Filter::plan(spec);
  if (!shape) return fail(shape.error());
  auto part = owned_storage::make(shape->bytes_of(0));
  if (!part) return fail(std::move(part.error()));
  std::vector<owned_storage> parts;
  parts.push_back(std::move(*part));
  return std::make_unique<Filter>(*shape, std::move(parts));
}

/// The object is made first: an exception leaves the dump as it was.
template <class Filter, class Shape>
std::unique_ptr<filter_value> open_chain(received_dump& dump, const Shape& shape) {
  auto filter = std::make_unique<Filter>(shape, std::vector<owned_storage>());
  filter->set_parts(dump.release());
  return filter;
}

}  // namespace

result<std::uint64_t> planned_bytes(const filter_spec& spec) {
  if (spec.window != 0) return planned_window_bytes(spec);
  if (spec.engine == filter_engine::native) return planned_native_bytes(spec);
  return spec.family == filter_family::bloom ? planned_chain_bytes<bloom_chain>(spec)
                                             : planned_chain_bytes<cuckoo_chain>(spec);
}

result<std::unique_ptr<filter_value>> make_filter(const filter_spec& spec) {
  if (spec.window != 0) return make_window(spec);
  if (spec.engine == filter_engine::native) return make_native(spec);
  return spec.family == filter_family::bloom ? make_chain<bloom_chain>(spec)
                                             : make_chain<cuckoo_chain>(spec);
}

std::unique_ptr<filter_value> open_filter(received_dump& dump) {
  if (const auto* const shape = std::get_if<chain_shape>(&dump.shape())) {
    return open_chain<bloom_chain>(dump, *shape);
  }
  if (const auto* const shape = std::get_if<cuckoo_shape>(&dump.shape())) {
    return open_chain<cuckoo_chain>(dump, *shape);
  }
  return dump.prefix().spec.window != 0 ? open_window(dump) : open_native(dump);
}

}  // namespace bloomset::server
