#pragma once

// Questions that both families answer alike: a key that is missing or of another type holds
// nothing.

#include "arguments.hpp"

namespace bloomery::server {

/// Whether the item behind the key may be in its filter.
int reply_contained(const request& in, filter_family family);
/// The same for all items behind the key.
int reply_all_contained(const request& in, filter_family family);

}  // namespace bloomery::server
