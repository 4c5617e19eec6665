// The specification (bloomery/detail/vector_quotient/layout.hpp) run as it stands.

#include <bloomery/detail/vector_quotient/kernels.hpp>

#include "kinds/vector_quotient/kernels/seen.hpp"
#include "kinds/vector_quotient/kernels/table.hpp"

namespace bloomery::detail {
namespace vq_scalar {
namespace {

class ops {
 public:
  static constexpr int locality = 3;

  explicit ops(const vq_layout& layout) noexcept : layout_(layout) {}

  void place(const hash64* hashes, std::size_t n, vq_places& places) const noexcept {
    vq_place_each(layout_, hashes, n, places);
  }

  static bool holds(const vq_layout& layout, const std::byte* a, const std::byte* b,
                    unsigned bucket, std::uint64_t remainder) noexcept {
    return layout.copies(a, layout.run(a, bucket), remainder) != 0 ||
           layout.copies(b, layout.run(b, bucket), remainder) != 0;
  }
  vq_seen look(const std::byte* block, unsigned bucket, std::uint64_t remainder) const noexcept {
    const vq_run run = layout_.run(block, bucket);
    return {layout_.copies(block, run, remainder), layout_.find(block, run, remainder), run.end,
            layout_.taken(block)};
  }
  void put(std::byte* block, unsigned bucket, unsigned end,
           std::uint64_t remainder) const noexcept {
    layout_.put(block, bucket, end, remainder);
  }
  void take(std::byte* block, unsigned bucket, unsigned slot) const noexcept {
    layout_.take(block, bucket, slot);
  }

 private:
  const vq_layout& layout_;
};

#include "kinds/vector_quotient/kernels/loops.inl"

}  // namespace
}  // namespace vq_scalar

const vq_kernels scalar_quotient = {
    vq_scalar::vq_holds<vq_scalar::ops>, vq_scalar::vq_may_contain_loop<vq_scalar::ops>,
    vq_scalar::vq_insert_loop<vq_scalar::ops>, vq_scalar::vq_erase_loop<vq_scalar::ops>};

const vq_kernels& vq_ops() noexcept {
  return vq_kernel_table.chosen();
}

}  // namespace bloomery::detail
