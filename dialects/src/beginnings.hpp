#pragma once

// Damaged files: the format of their first fields, although the other bytes do not fit it.

#include <bloomset/dialects/dialect.hpp>
#include <cstddef>
#include <span>

namespace bloomset::dialects {

/// The format whose files begin like these bytes, or null. For messages: many other files could
/// begin like this too.
const dialect* begins_as(std::span<const std::byte> bytes) noexcept;

}  // namespace bloomset::dialects
