#pragma once

// BF.RESERVE with a MEMORY size: the capacity or the rate that a fixed filter of that size has.

#include "arguments.hpp"

namespace bloomery::server {

/// Finds the one that is asked for: the largest capacity or the least rate with which the filter's
/// key takes no more than the memory. Some dozen plans, which take microseconds each.
wire_error fit_into(const memory_request& memory, filter_spec& spec);

}  // namespace bloomery::server
