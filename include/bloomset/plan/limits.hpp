#pragma once

/// Limits that all kinds of filters have.

#include <cstdint>

namespace bloomset {

/// The largest capacity: beyond 2^57 keys, 64-bit hashes of distinct keys are often equal.
inline constexpr std::uint64_t max_keys = std::uint64_t{1} << 57;
/// The largest payload, in bits.
inline constexpr std::uint64_t max_bits = std::uint64_t{1} << 62;

}  // namespace bloomset
