#pragma once

// Questions that both families answer alike.

#include "arguments.hpp"

namespace bloomery::server {

/// Whether the item behind the key may be in its filter. A key that is missing or of another type
/// holds nothing.
int reply_contained(const request& in, filter_family family);
/// The same for all items behind the key.
int reply_all_contained(const request& in, filter_family family);
/// What the filter's bits tell of it, by name.
int reply_state(const request& in, filter_family family);

}  // namespace bloomery::server
