#pragma once

// Parquet's filters as blocked_bloom: hash, layout and size.

#include <bloomset/blocked_bloom.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomset::dialects {

/// The hash of a value's plain bytes.
hash64 parquet_hash(std::span<const std::byte> value) noexcept;

/// A filter of that many bytes, a multiple of 32.
blocked_bloom_params parquet_shape(std::size_t bytes) noexcept;

/// The filter whose blocks are that memory, or the failure to have the memory.
result<blocked_bloom> parquet_filter_in(result<owned_storage> memory);

/// The size that Arrow chooses: a Bloom filter's with 8 functions, rounded up to a power of two.
/// parquet-mr differs for some sizes near powers of two.
result<std::uint64_t> parquet_bytes(std::uint64_t values, double fpr);

}  // namespace bloomset::dialects
