#if defined(__x86_64__)

#include <array>
#include <bloomery/detail/cuckoo/table.hpp>
#include <cstring>

#include "cpu/avx512.hpp"
#include "cpu/target.hpp"

BLOOMERY_TARGET_BEGIN("avx512f,avx512vl,avx512dq")

namespace bloomery::detail {
namespace cuckoo_avx512 {
namespace {

#include "cpu/lanes512.inl"
#include "kinds/cuckoo/kernels/lanes.inl"

}  // namespace
}  // namespace cuckoo_avx512

const cuckoo_kernels cuckoo_kernels::vector512{cuckoo_avx512::contains};

}  // namespace bloomery::detail

BLOOMERY_TARGET_END

#endif
