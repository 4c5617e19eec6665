// The specification (bloomery/detail/block_layout.hpp) run as it stands.

#include <bloomery/detail/block_kernels.hpp>
#include <bloomery/detail/block_layout.hpp>

#include "kernels/sets.hpp"

namespace bloomery::detail {
namespace scalar {
namespace {

template <class Layout>
bool test(Layout, const std::byte* block, hash64 h, unsigned hashes) noexcept {
  return Layout::test(block, h, hashes);
}
template <class Layout>
bool set(Layout, std::byte* block, hash64 h, unsigned hashes) noexcept {
  return Layout::set(block, h, hashes);
}

#include "kernels/block_loops.inl"

}  // namespace
}  // namespace scalar

const kernel_set scalar_kernels = {"scalar", scalar::loops<split_512>, scalar::loops<free_512>,
                                   scalar::loops<parquet_256>};

}  // namespace bloomery::detail
