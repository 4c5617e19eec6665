#pragma once

// Windowed filters: WINDOW of BF.RESERVE. Time since 1970 is divided into slices of
// window/generations. The items of a slice are a native filter, its generation. A whole generation
// is forgotten when a window has passed since the end of its slice. An item is thus known for at
// least a window, and for at most a slice longer. At most generations + 1 exist at a time; the rate
// is divided by that number.

#include <bloomset/result.hpp>
#include <memory>

#include "values/filter_value.hpp"
#include "values/received_dump.hpp"

namespace bloomset::server {

/// Bytes of a filter that holds all its generations as reserved. Fails with invalid_argument if
/// there is no such filter.
result<std::uint64_t> planned_window_bytes(const filter_spec& spec);

/// An empty filter. It allocates memory when items arrive.
std::unique_ptr<filter_value> make_window(const filter_spec& spec);

/// The filter in a complete dump. Null if it is damaged or memory runs out.
std::unique_ptr<filter_value> open_window(const received_dump& dump);

}  // namespace bloomset::server
