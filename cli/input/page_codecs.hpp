#pragma once

// The codecs of Parquet's pages.

#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomset::cli {

/// Unpacks a page that has exactly `size` bytes: Snappy, gzip, zstd or LZ4. `codec` is a number of
/// parquet.thrift's CompressionCodec. The failure is a sentence.
result<void> unpack_page(std::int64_t codec, std::span<const std::byte> packed, std::size_t size,
                         std::vector<std::byte>& into);

}  // namespace bloomset::cli
