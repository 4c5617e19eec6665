#pragma once

// The native engine: the library's own filters, in one part or two. In front stands what is made
// for the reserved capacity: a blocked_bloom for BF.*, one cache line an item; a vector_quotient
// where items are deleted and counted. When that has its items and the filter may grow, one
// expandable comes behind it, not a chain that each query walks along. BF.* begins small growing
// filters as an expandable.

#include <bloomery/any_filter.hpp>
#include <bloomery/result.hpp>
#include <memory>

#include "filter_value.hpp"
#include "received_dump.hpp"

namespace bloomery::server {

/// Bytes that such a filter takes when it is made; invalid_argument if there can be none.
result<std::uint64_t> planned_native_bytes(const filter_spec& spec);

/// An empty one. Fails with invalid_argument or out_of_memory.
result<std::unique_ptr<filter_value>> make_native(const filter_spec& spec);

/// The one in a complete dump, which is checked to the last byte; null if it is damaged or there
/// is no memory.
std::unique_ptr<filter_value> open_native(const received_dump& dump);

}  // namespace bloomery::server
