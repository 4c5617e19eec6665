// Batches over a whole vector quotient filter.

#include <algorithm>
#include <bit>
#include <bloomery/detail/vector_quotient/kernels.hpp>

#include "cpu/partition.hpp"

namespace bloomery::detail {
namespace {

// Beside filters from this size on, batches with so many keys a block are brought together by
// region, so that its blocks are fetched once for several of them.
constexpr std::uint64_t partitioned_bytes = std::uint64_t{1} << 24;
constexpr std::uint64_t min_keys_a_block = 1;
// As many at a time: 128 MiB of hashes.
constexpr std::size_t max_chunk = std::size_t{1} << 24;
constexpr std::uint64_t max_regions = 1024;

}  // namespace

void vq_may_contain(const vq_reader& filter, std::span<const hash64> hashes,
                    bool* answers) noexcept {
  const vq_kernels& with = vq_ops();
  const std::uint64_t blocks = filter.layout->blocks();
  const std::size_t chunk = std::min(hashes.size(), max_chunk);
  if (filter.layout->block_bytes() >= partitioned_bytes && chunk >= blocks * min_keys_a_block) {
    // Some of the regions that a key's two blocks share, but for the last, which may be larger.
    const auto shift =
        static_cast<unsigned>(std::bit_width(std::max(vq_region_blocks, blocks / max_regions) - 1));
    const double share =
        static_cast<double>(std::uint64_t{1} << shift) / static_cast<double>(blocks);
    const auto region_of = [blocks, shift](hash64 h) noexcept {
      return static_cast<std::size_t>(mulhi64(h.value, blocks) >> shift);
    };
    const hash_regions regions{region_of, static_cast<std::size_t>(blocks >> shift) + 1, share};
    if (in_chunks(regions, 1, hashes, chunk, true, [&](auto& work, auto now, std::size_t at) {
          work.ask(now, answers + at, [&](std::span<const hash64> some, bool* replies) {
            with.may_contain(filter, some, replies);
          });
        })) {
      return;
    }
  }
  with.may_contain(filter, hashes, answers);
}

}  // namespace bloomery::detail
