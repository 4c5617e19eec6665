#pragma once

// Damaged files: which format their first fields are of, though the rest is not what these say.

#include <bloomery/dialects/dialect.hpp>
#include <cstddef>
#include <span>

namespace bloomery::dialects {

/// The format whose files begin so, or null. For messages: many other files could begin so too.
const dialect* begins_as(std::span<const std::byte> bytes) noexcept;

}  // namespace bloomery::dialects
