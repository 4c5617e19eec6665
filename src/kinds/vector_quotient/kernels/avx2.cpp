#if defined(__x86_64__)

#include <immintrin.h>

#include <bloomery/detail/vector_quotient/kernels.hpp>

#include "cpu/target.hpp"
#include "kinds/vector_quotient/kernels/group.hpp"

BLOOMERY_TARGET_BEGIN("avx2,bmi,bmi2,popcnt")

namespace bloomery::detail {
namespace vq_avx2 {
namespace {

#include "kinds/vector_quotient/kernels/loops.inl"

class ops {
 public:
  explicit ops(const vq_layout& layout) : layout_(layout) {}

  [[gnu::always_inline]] void place(const hash64* hashes, std::size_t n, vq_group& group) const {
    vq_place_group(layout_, hashes, n, group);
  }
  [[gnu::always_inline]] vq_lookup look_up(const std::byte* block, unsigned bucket,
                                           std::uint64_t remainder) const {
    const vq_ends ends = layout_.ends(block);
    const vq_run run = run_by_pdep(layout_, ends, bucket);
    const vq_match found = layout_.match(block, run, remainder);
    return {found.copies, found.slot, run.end, layout_.taken(ends)};
  }
  void insert(std::byte* block, unsigned bucket, unsigned end, std::uint64_t remainder) const {
    layout_.insert(block, bucket, end, remainder);
  }
  void erase(std::byte* block, unsigned bucket, unsigned slot) const {
    layout_.erase(block, bucket, slot);
  }

 private:
  const vq_layout& layout_;
};

// Looks into both blocks in any case: no branch depends on the answer of the first.
[[gnu::always_inline]] inline bool contains_in(const vq_layout& layout, const vq_reader& filter,
                                               const vector_quotient_place& at) {
  const ops in(layout);
  const unsigned bucket = layout.bucket_of(at.tag);
  const std::uint64_t remainder = layout.remainder_of(at.tag);
  const unsigned a = in.look_up(layout.block(filter.blocks, at.first), bucket, remainder).copies;
  const unsigned b = in.look_up(layout.block(filter.blocks, at.second), bucket, remainder).copies;
  return (a | b) != 0 || (filter.stashed != 0 && vq_stashed_copies(filter, at) != 0);
}

bool contains(const vq_reader& filter, const vector_quotient_place& at) {
  return contains_in(*filter.layout, filter, at);
}

void may_contain(const vq_reader& filter, std::span<const hash64> hashes, bool* answers) {
  const vq_layout layout = *filter.layout;
  vq_for_places(ops(layout), filter.blocks, hashes,
                [&](std::size_t i, const vector_quotient_place& at) __attribute__((always_inline)) {
                  answers[i] = contains_in(layout, filter, at);
                  return true;
                });
}

}  // namespace
}  // namespace vq_avx2

const vq_kernels vq_kernels::vector256 = {
    vq_avx2::contains, vq_avx2::may_contain, vq_avx2::vq_count_loop<vq_avx2::ops>,
    vq_avx2::vq_insert_loop<vq_avx2::ops>, vq_avx2::vq_erase_loop<vq_avx2::ops>};

}  // namespace bloomery::detail

BLOOMERY_TARGET_END

#endif
