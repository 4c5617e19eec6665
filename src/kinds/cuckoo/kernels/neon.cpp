#if defined(__aarch64__)

#include <arm_neon.h>

#include <array>
#include <bloomset/detail/cuckoo/table.hpp>
#include <cstring>

namespace bloomset::detail {
namespace cuckoo_neon {
namespace {

#include "cpu/lanes128.inl"
#include "kinds/cuckoo/kernels/lanes.inl"

}  // namespace
}  // namespace cuckoo_neon

const cuckoo_kernels cuckoo_kernels::vector128{cuckoo_neon::contains};

}  // namespace bloomset::detail

#endif
