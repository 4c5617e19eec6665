#pragma once

/// Bloom filters for Parquet files that were written without them. The pages stay as they are: the
/// filters follow them, and a new footer says where. And the values of a column, as keys.

#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)  // a shared build shows it

namespace bloomset::dialects {

/// Unpacks a page: the number of its codec in parquet.thrift's CompressionCodec, the packed bytes,
/// the unpacked size that the page states, and the memory for exactly so many bytes. Not called for
/// pages that are not packed. Must fail with a sentence if it does not know the codec, or if the
/// bytes give another size. The library itself has no codec, so that it needs none.
using parquet_codec =
    std::function<result<void>(std::int64_t codec, std::span<const std::byte> packed,
                               std::size_t size, std::vector<std::byte>& into)>;

/// The columns, and how their filters are made.
struct parquet_attach_request {
  std::vector<std::string> columns;  ///< paths in the schema, with dots
  double fpr = 0;                    ///< of each row group's filter, in (0, 1)
  bool replace = false;              ///< filters that the columns have
  parquet_codec unpack;
};

/// The filters of one column.
struct attached_filters {
  std::string column;
  std::uint64_t row_groups = 0;
  std::uint64_t values = 0;  ///< distinct ones in a row group, summed over the row groups
  std::uint64_t bytes = 0;
  double max_fpr = 0;  ///< the highest rate of a row group's filter
};

/// The new file is the old one's first `kept` bytes, and then `appended`.
struct parquet_attachment {
  std::uint64_t kept = 0;
  std::vector<std::byte> appended;
  std::vector<attached_filters> columns;
};

/// Makes a split block Bloom filter for each row group of each column, sized by its distinct
/// values. Nulls are not in it.
///
/// Types       All that Parquet has filters for: not BOOLEAN and INT96.
/// Nested      The path of a leaf names a nested or repeated column. Each of its values is a key.
/// Footer      All fields stay as they are, also unknown ones, except for the filters' places.
/// Memory      The filters, up to 32 bytes per distinct value of one row group, and one page.
/// Fails       With unsupported if a part of the file is encrypted or of a form that is not known,
///             exists if a column has filters and `replace` is false, corrupt if pages or footer
///             are malformed, not_found or invalid_argument for the request.
result<parquet_attachment> attach_parquet_filters(std::span<const std::byte> file,
                                                  const parquet_attach_request& request);

/// Called with some values of a column as text, valid until it returns. A failure ends the reading.
using parquet_text_visitor = std::function<result<void>(std::span<const std::string_view> values)>;

/// Reads the values of a column that are not null, with repetitions and in any order: strings as
/// they are, whole numbers and times in decimal, UUIDs with small letters. A nested or repeated
/// column has the path of a leaf.
///
/// Memory      One page, the dictionary of a row group, and 1 MiB.
/// Fails       With unsupported for values that have no single text, such as decimals and
///             floating-point numbers, and for files and columns that attach_parquet_filters()
///             cannot read either; not_found, corrupt; and as `visit` does.
result<void> read_parquet_column(std::span<const std::byte> file, std::string_view column,
                                 const parquet_codec& unpack, const parquet_text_visitor& visit);

}  // namespace bloomset::dialects

#pragma GCC visibility pop
