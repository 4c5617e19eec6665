#pragma once

// The native engine: the library's own filters, in one part or two.
//
//     front   made for the reserved capacity: a blocked_bloom, or a vector_quotient where items are
//             deleted and counted. Filters that grow from a small capacity are one expandable.
//     back    an expandable, made when the front is full and the filter may grow. A query thus asks
//             at most two parts, however far the filter grows.

#include <bloomset/result.hpp>
#include <memory>
#include <string>

#include "values/filter_value.hpp"
#include "values/received_dump.hpp"

namespace bloomset::server {

/// Bytes of a new filter. Fails with invalid_argument if there is no such filter.
result<std::uint64_t> planned_native_bytes(const filter_spec& spec);

/// The sentence for a reservation that cannot be planned, because its rate is too low. Names the
/// reservation that can, if there is one.
std::string low_rate_obstacle(const filter_spec& spec);

/// An empty filter. Fails with invalid_argument or out_of_memory.
result<std::unique_ptr<filter_value>> make_native(const filter_spec& spec);

/// The filter in a complete dump, which is checked to the last byte. Null if it is damaged or
/// memory runs out.
std::unique_ptr<filter_value> open_native(const received_dump& dump);

}  // namespace bloomset::server
