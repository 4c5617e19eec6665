#if defined(__x86_64__)

#include "core/siphash/kernels.hpp"
#include "cpu/target.hpp"

BLOOMSET_TARGET_BEGIN("avx512f,avx512vl,avx512dq")

namespace bloomset::detail {
namespace siphash_avx512 {
namespace {

constexpr std::size_t lanes = 8;

#include "core/siphash/kernels/lanes.inl"

}  // namespace
}  // namespace siphash_avx512

const siphash_kernels siphash_kernels::vector512{siphash_avx512::hash};

}  // namespace bloomset::detail

BLOOMSET_TARGET_END

#endif
