#if defined(__x86_64__)

#include <array>
#include <bloomset/detail/cuckoo/table.hpp>
#include <cstring>

#include "cpu/avx512.hpp"
#include "cpu/target.hpp"

BLOOMSET_TARGET_BEGIN("avx512f,avx512vl,avx512dq,avx512bw")

namespace bloomset::detail {
namespace cuckoo_avx512 {
namespace {

#include "cpu/lanes512.inl"
#include "kinds/cuckoo/kernels/lanes.inl"

}  // namespace
}  // namespace cuckoo_avx512

const cuckoo_kernels cuckoo_kernels::vector512{cuckoo_avx512::contains};

}  // namespace bloomset::detail

BLOOMSET_TARGET_END

#endif
