#pragma once

// A filter that forgets: WINDOW of BF.RESERVE. Time is cut into slices of a window's length divided
// by the number of generations, counted from 1970; what comes in a slice goes into that slice's
// generation, a native filter of its own. A generation is forgotten as a whole, once a window has
// passed since the end of its slice: an item is known for a window at least and for a slice more at
// most, and one generation more is held than a window has slices. The rate is divided by all of
// them.

#include <bloomery/result.hpp>
#include <memory>

#include "filter_value.hpp"
#include "received_dump.hpp"

namespace bloomery::server {

/// Bytes that such a filter takes with all its generations, as reserved; invalid_argument if there
/// can be none.
result<std::uint64_t> planned_window_bytes(const filter_spec& spec);

/// An empty one, which takes no memory until items come.
std::unique_ptr<filter_value> make_window(const filter_spec& spec);

/// The one in a complete dump; null if it is damaged or there is no memory.
std::unique_ptr<filter_value> open_window(const received_dump& dump);

}  // namespace bloomery::server
