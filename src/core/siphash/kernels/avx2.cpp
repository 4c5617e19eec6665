#if defined(__x86_64__)

#include "core/siphash/kernels.hpp"
#include "cpu/target.hpp"

BLOOMERY_TARGET_BEGIN("avx2")

namespace bloomery::detail {
namespace siphash_avx2 {
namespace {

constexpr std::size_t lanes = 4;

#include "core/siphash/kernels/lanes.inl"

}  // namespace
}  // namespace siphash_avx2

const siphash_kernels siphash_kernels::vector256{siphash_avx2::hash};

}  // namespace bloomery::detail

BLOOMERY_TARGET_END

#endif
