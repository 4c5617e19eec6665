#include "cpu/dispatch.hpp"

#include <array>
#include <atomic>
#include <bloomset/detail/core/bits.hpp>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace bloomset::detail {
namespace {

#if defined(__x86_64__)
// Not every compiler's __builtin_cpu_supports knows this feature.
bool has_lzcnt() noexcept {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_LZCNT) != 0;
}
#endif

struct usable {
  std::array<instruction_set, instruction_sets> sets{instruction_set::scalar};
  std::size_t size = 1;

  usable() noexcept {
#if defined(__x86_64__)
    __builtin_cpu_init();
    // Every feature that a kernel of the set is compiled with (tests/source/kernel_features.py). A
    // CPU or a virtual machine may have AVX2 and lack LZCNT, which it then executes as BSR.
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt") && has_lzcnt()) {
      sets[size++] = instruction_set::avx2;
      if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
          __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512vbmi") &&
          __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vpopcntdq")) {
        sets[size++] = instruction_set::avx512;
      }
    }
#elif defined(__aarch64__)
    sets[size++] = instruction_set::neon;  // every ARM64 CPU has it
#endif
  }
};

instruction_set first_choice() noexcept {
  const auto all = usable_instruction_sets();
  const char* const wanted = std::getenv("BLOOMSET_KERNEL");  // NOLINT(concurrency-mt-unsafe)
  if (wanted == nullptr || *wanted == '\0') return all.back();
  for (const instruction_set set : all) {
    if (std::string_view(name_of(set)) == wanted) return set;
  }
  static_cast<void>(std::fprintf(stderr,
                                 "bloomset: BLOOMSET_KERNEL=%s is none of this CPU's kernels "
                                 "(scalar, avx2, avx512, neon as far as it has them); using %s\n",
                                 wanted, name_of(all.back())));
  return all.back();
}

std::size_t second_level_cache_of_system() noexcept {
#if defined(_SC_LEVEL2_CACHE_SIZE)
  const long bytes = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
  if (bytes > 0) return static_cast<std::size_t>(bytes);
#endif
  return std::size_t{1} << 19;
}

}  // namespace

const std::size_t second_level_cache = second_level_cache_of_system();

std::atomic<instruction_set> instruction_set_choice{undecided_instruction_set};

const char* name_of(instruction_set set) noexcept {
  static constexpr std::array names = {"scalar", "avx2", "avx512", "neon"};
  static_assert(names.size() == instruction_sets);
  return names[static_cast<std::size_t>(set)];
}

std::span<const instruction_set> usable_instruction_sets() noexcept {
  static const usable found;
  return {found.sets.data(), found.size};
}

instruction_set first_instruction_set() noexcept {
  static const instruction_set first = first_choice();
  instruction_set expected = undecided_instruction_set;
  instruction_set_choice.compare_exchange_strong(expected, first, std::memory_order_relaxed);
  return instruction_set_choice.load(std::memory_order_relaxed);
}

void choose_instruction_set(instruction_set set) noexcept {
  instruction_set_choice.store(set, std::memory_order_relaxed);
}

}  // namespace bloomset::detail
