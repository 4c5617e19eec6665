#pragma once

// An order of keys that depends on their hashes alone.

#include <bloomset/hash.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <functional>
#include <span>

#include "memory/spool.hpp"

namespace bloomset::cli {

/// Fixed but for tests, because a filter may depend on where one batch ends.
inline constexpr std::size_t canonical_keys_per_pass = std::size_t{1} << 22;

/// Calls `use` with all hashes of the spool, copies included, in the order of remix64(hash), until
/// it fails.
///
/// The order of the hashes themselves would fill a table from one end to the other, so that the
/// choice between two blocks of a key balances worse. In this order positions are as good as
/// random.
///
/// Memory      64 MiB; at most 256 MiB if keys are repeated.
/// Time        One pass over the spool for each 2^22 keys, and sorting.
result<void> in_canonical_order(const key_spool& spool,
                                const std::function<result<void>(std::span<const hash64>)>& use,
                                std::size_t keys_per_pass = canonical_keys_per_pass);

}  // namespace bloomset::cli
