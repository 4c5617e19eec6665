#pragma once

// Values with several encodings. Engines take the two zeros of floating-point numbers for equal,
// and all NaNs, and a decimal in bytes of any length may begin with more bytes of its sign.
// Filters get the encodings that an engine is likely to query
// (docs/maintain/decisions/edges/parquet-attach.md).

#include <cstddef>
#include <span>
#include <vector>

#include "key_form.hpp"

namespace bloomset::dialects {

/// Whether some values of this form have several encodings.
bool has_equal_encodings(const value_form& form) noexcept;

/// Whether an encoding is one of a NaN. There are too many to query each of them.
bool is_nan(const value_form& form, std::span<const std::byte> value) noexcept;

/// Turns an encoding into the first one of the same value: the positive zero, the positive quiet
/// NaN without a payload, the shortest decimal. False if the value has only one.
bool first_encoding(const value_form& form, std::vector<std::byte>& value);

/// Turns an encoding into the next one of the same value. False after the last. NaNs have two here,
/// those that processors compute: the first one, and the same with the sign set.
bool next_encoding(const value_form& form, std::vector<std::byte>& value);

}  // namespace bloomset::dialects
