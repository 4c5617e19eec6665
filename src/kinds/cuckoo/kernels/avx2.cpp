#if defined(__x86_64__)

#include <immintrin.h>

#include <array>
#include <bloomset/detail/cuckoo/table.hpp>
#include <cstring>

#include "cpu/target.hpp"

BLOOMSET_TARGET_BEGIN("avx2")

namespace bloomset::detail {
namespace cuckoo_avx2 {
namespace {

#include "cpu/lanes256.inl"
#include "kinds/cuckoo/kernels/lanes.inl"

}  // namespace
}  // namespace cuckoo_avx2

const cuckoo_kernels cuckoo_kernels::vector256{cuckoo_avx2::contains};

}  // namespace bloomset::detail

BLOOMSET_TARGET_END

#endif
