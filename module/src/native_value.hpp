#pragma once

// The native engine of BF.*: the library's own filters. What does not grow is a blocked_bloom, one
// cache line an item; what grows is one expandable, not a chain that each query walks along.

#include <bloomery/any_filter.hpp>
#include <bloomery/result.hpp>
#include <memory>

#include "bf_value.hpp"
#include "received_dump.hpp"

namespace bloomery::server {

/// Bytes that such a filter takes when it is made; invalid_argument if there can be none.
result<std::uint64_t> planned_native_bytes(const bf_spec& spec);

/// An empty one. Fails with invalid_argument or out_of_memory.
result<std::unique_ptr<bf_value>> make_native(const bf_spec& spec);

/// The one in a complete dump, which is checked to the last byte; null if it is damaged or there
/// is no memory.
std::unique_ptr<bf_value> open_native(const received_dump& dump);

}  // namespace bloomery::server
