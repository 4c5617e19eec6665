#pragma once

// The engines by what a specification or a dump says.

#include <bloomery/result.hpp>
#include <memory>

#include "filter_value.hpp"
#include "received_dump.hpp"

namespace bloomery::server {

/// Bytes that a filter takes when it is made; invalid_argument if there can be none.
result<std::uint64_t> planned_bytes(const filter_spec& spec);

/// An empty one. Fails with invalid_argument or out_of_memory.
result<std::unique_ptr<filter_value>> make_filter(const filter_spec& spec);

/// The one in a complete dump; null if it is damaged or there is no memory. Native ones are checked
/// to the last byte; those of RedisBloom have no checksum. A filter that was made may have taken
/// the dump's memory.
std::unique_ptr<filter_value> open_filter(received_dump& dump);

}  // namespace bloomery::server
