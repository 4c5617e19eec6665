#pragma once

// The values of a column chunk: its pages, one after the other.

#include <bloomset/dialects/parquet.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <span>
#include <string_view>

#include "parquet_file.hpp"
#include "parquet_values.hpp"

namespace bloomset::dialects {

/// Whether the pages of a column can be read, as far as the footer tells. Fails with not_found if
/// there is no such column, corrupt or unsupported.
result<void> check_pages(const parquet_footer& footer, std::string_view column);

/// A failure of read_chunk() with its place; the number of the first row group is 1.
failure within_group(std::size_t group, std::string_view column, const failure& why);

/// Visits the plain bytes of the values that are not null, in any order. A value of a dictionary is
/// visited once per chunk, others as often as they occur. Fails with corrupt or unsupported.
/// Messages say what is wrong, and not where. Precondition: the type can be in a filter.
result<void> read_chunk(std::span<const std::byte> file, const parquet_chunk& chunk,
                        const parquet_type& type, const parquet_codec& unpack,
                        const value_visitor& visit);

}  // namespace bloomset::dialects
