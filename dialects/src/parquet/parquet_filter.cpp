#include "parquet_filter.hpp"

#include <bloomset/plan/numeric.hpp>

#include "hashes.hpp"
#include "options.hpp"

namespace bloomset::dialects {

hash64 parquet_hash(std::span<const std::byte> value) noexcept {
  return {XXH64(value.data(), value.size(), 0)};
}

blocked_bloom_params parquet_shape(std::size_t bytes) noexcept {
  return {.blocks = bytes / 32, .hashes = 8, .layout = block_layout::parquet_256};
}

result<blocked_bloom> parquet_filter_in(result<owned_storage> memory) {
  if (!memory) return fail(std::move(memory.error()));
  const auto shape = parquet_shape(memory->bytes().size());
  return blocked_bloom::open(shape, std::move(*memory), 0);
}

result<std::uint64_t> parquet_bytes(std::uint64_t values, double fpr) {
  constexpr std::uint64_t max_bytes = std::uint64_t{128} << 20;  // written; 2^31 can be read
  const double bits =
      -8 * static_cast<double>(values) / numeric::log(1 - numeric::pow(fpr, 1.0 / 8));
  if (!(bits <= static_cast<double>(max_bytes * 8))) return too_large("parquet", "128 MiB");
  std::uint64_t bytes = 32;
  while (static_cast<double>(bytes * 8) < bits) bytes *= 2;
  return bytes;
}

}  // namespace bloomset::dialects
