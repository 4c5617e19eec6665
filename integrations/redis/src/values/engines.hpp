#pragma once

// The engine that a specification or a dump asks for.

#include <bloomset/result.hpp>
#include <memory>

#include "values/filter_value.hpp"
#include "values/received_dump.hpp"

namespace bloomset::server {

/// Bytes of a new filter. Fails with invalid_argument if there is no such filter.
result<std::uint64_t> planned_bytes(const filter_spec& spec);

/// An empty filter. Fails with invalid_argument or out_of_memory.
result<std::unique_ptr<filter_value>> make_filter(const filter_spec& spec);

/// The filter in a complete dump, which may move its memory into the filter. Null if the dump is
/// damaged or memory runs out. Native dumps are checked to the last byte; RedisBloom's have no
/// checksum.
std::unique_ptr<filter_value> open_filter(received_dump& dump);

}  // namespace bloomset::server
