#pragma once

// The values of a column chunk: its pages, one after the other.

#include <bloomset/dialects/parquet.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <span>

#include "distinct_hashes.hpp"
#include "parquet_file.hpp"

namespace bloomset::dialects {

/// Adds the hashes of all values that are not null. Fails with corrupt or unsupported. Messages say
/// what is wrong, and not where. Precondition: the type can be in a filter.
result<void> hash_values(std::span<const std::byte> file, const parquet_chunk& chunk,
                         const parquet_type& type, const parquet_codec& unpack,
                         distinct_hashes& into);

}  // namespace bloomset::dialects
