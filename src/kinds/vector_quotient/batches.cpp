// Large batches of queries to a vector quotient filter.

#include <algorithm>
#include <bit>
#include <bloomery/detail/vector_quotient/kernels.hpp>

#include "cpu/partition.hpp"

namespace bloomery::detail {
namespace {

// Batches of at least one key per block of a filter of at least this size are partitioned by region
// first, so that each block is fetched once for all its keys.
constexpr std::uint64_t min_partitioned_bytes = std::uint64_t{1} << 24;
constexpr std::uint64_t min_keys_per_block = 1;
// Keys that are partitioned at once: 128 MiB of hashes.
constexpr std::size_t max_chunk = std::size_t{1} << 24;
constexpr std::uint64_t max_regions = 1024;

}  // namespace

void vq_may_contain(const vq_reader& filter, std::span<const hash64> hashes,
                    bool* answers) noexcept {
  const vq_kernels& kernels = vq_ops();
  const std::uint64_t blocks = filter.layout->blocks();
  const std::size_t chunk = std::min(hashes.size(), max_chunk);
  if (filter.layout->block_bytes() >= min_partitioned_bytes &&
      chunk >= blocks * min_keys_per_block) {
    // 2^shift blocks: one region of the layout or several, which have both blocks of a key (the
    // last region of the layout may be larger).
    const auto shift =
        static_cast<unsigned>(std::bit_width(std::max(vq_region_blocks, blocks / max_regions) - 1));
    const double share =
        static_cast<double>(std::uint64_t{1} << shift) / static_cast<double>(blocks);
    const auto region_of = [blocks, shift](hash64 h) noexcept {
      return static_cast<std::size_t>(mulhi64(h.value, blocks) >> shift);
    };
    const hash_regions regions{region_of, static_cast<std::size_t>(blocks >> shift) + 1, share};
    const bool done =
        in_chunks(regions, 1, hashes, chunk, true, [&](auto& work, auto part, std::size_t at) {
          work.ask(part, answers + at, [&](std::span<const hash64> keys, bool* found) {
            kernels.may_contain(filter, keys, found);
          });
        });
    if (done) return;
  }
  kernels.may_contain(filter, hashes, answers);
}

}  // namespace bloomery::detail
