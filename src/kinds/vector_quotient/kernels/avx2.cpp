#if defined(__x86_64__)

#include <immintrin.h>

#include <bloomery/detail/vector_quotient/kernels.hpp>

#include "cpu/target.hpp"
#include "kinds/vector_quotient/kernels/seen.hpp"
#include "kinds/vector_quotient/kernels/table.hpp"

BLOOMERY_TARGET_BEGIN("avx2,bmi,bmi2,popcnt")

namespace bloomery::detail {
namespace vq_avx2 {
namespace {

#include "kinds/vector_quotient/kernels/bmi2.inl"

class ops : public vq_bmi2 {
 public:
  using vq_bmi2::vq_bmi2;

  void put(std::byte* block, unsigned bucket, unsigned end, std::uint64_t remainder) const {
    layout_.put(block, bucket, end, remainder);
  }
  void take(std::byte* block, unsigned bucket, unsigned slot) const {
    layout_.take(block, bucket, slot);
  }
};

#include "kinds/vector_quotient/kernels/loops.inl"

}  // namespace
}  // namespace vq_avx2

const vq_kernels avx2_quotient = {
    vq_avx2::vq_holds<vq_avx2::ops>, vq_avx2::vq_may_contain_loop<vq_avx2::ops>,
    vq_avx2::vq_insert_loop<vq_avx2::ops>, vq_avx2::vq_erase_loop<vq_avx2::ops>};

}  // namespace bloomery::detail

BLOOMERY_TARGET_END

#endif
