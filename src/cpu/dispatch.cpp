#include <bloomery/detail/blocked_bloom/kernels.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "cpu/sets.hpp"

namespace bloomery::detail {
namespace {

struct usable {
  std::array<const kernel_set*, 3> sets{};
  std::size_t size = 0;

  usable() noexcept {
    sets[size++] = &scalar_kernels;
#if defined(__x86_64__)
    __builtin_cpu_init();
    // All that any file of a set is compiled with (tests/kernel_features.py): a CPU, or a virtual
    // machine, may have AVX2 and lack LZCNT, which it then executes as BSR.
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt") &&
        __builtin_cpu_supports("lzcnt")) {
      sets[size++] = &avx2_kernels;
      if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
          __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512vbmi") &&
          __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vpopcntdq")) {
        sets[size++] = &avx512_kernels;
      }
    }
#endif
  }
};

const kernel_set* choose() noexcept {
  const auto all = usable_kernels();
  const char* const wanted = std::getenv("BLOOMERY_KERNEL");  // NOLINT(concurrency-mt-unsafe)
  if (wanted == nullptr || *wanted == '\0') return all.back();
  const auto found = std::find_if(all.begin(), all.end(), [wanted](const kernel_set* set) {
    return std::string_view(set->name) == wanted;
  });
  if (found != all.end()) return *found;
  static_cast<void>(std::fprintf(stderr,
                                 "bloomery: BLOOMERY_KERNEL=%s is none of this CPU's kernels "
                                 "(scalar, avx2, avx512 as far as it has them); using %s\n",
                                 wanted, all.back()->name));
  return all.back();
}

std::atomic<const kernel_set*> chosen{nullptr};

}  // namespace

const block_kernels& kernel_set::of(block_layout layout) const noexcept {
  switch (layout) {
    case block_layout::free_512:
      return free_512;
    case block_layout::parquet_256:
      return parquet_256;
    case block_layout::split_512:
      break;
  }
  return split_512;
}

std::span<const kernel_set* const> usable_kernels() noexcept {
  static const usable found;
  return {found.sets.data(), found.size};
}

const kernel_set& kernels() noexcept {
  const kernel_set* set = chosen.load(std::memory_order_acquire);
  if (set == nullptr) {
    static const kernel_set* const first = choose();
    const kernel_set* expected = nullptr;
    chosen.compare_exchange_strong(expected, first, std::memory_order_acq_rel);
    set = chosen.load(std::memory_order_acquire);
  }
  return *set;
}

void use_kernels(const kernel_set& set) noexcept {
  chosen.store(&set, std::memory_order_release);
}

}  // namespace bloomery::detail
