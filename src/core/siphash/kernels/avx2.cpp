#if defined(__x86_64__)

#include "core/siphash/kernels.hpp"
#include "cpu/target.hpp"

BLOOMSET_TARGET_BEGIN("avx2")

namespace bloomset::detail {
namespace siphash_avx2 {
namespace {

constexpr std::size_t lanes = 4;

#include "core/siphash/kernels/lanes.inl"

}  // namespace
}  // namespace siphash_avx2

const siphash_kernels siphash_kernels::vector256{siphash_avx2::hash};

}  // namespace bloomset::detail

BLOOMSET_TARGET_END

#endif
