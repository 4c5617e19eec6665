#pragma once

// The instruction set of every kind's kernels on this CPU. This header does not know the kinds.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomset::detail {

/// From the plainest to the widest of each processor family. All kernels of a kind give the same
/// bytes and answers.
enum class instruction_set : std::uint8_t { scalar, avx2, avx512, neon };
inline constexpr std::size_t instruction_sets = 4;

/// The name that BLOOMSET_KERNEL uses.
const char* name_of(instruction_set set) noexcept;

/// The sets that this CPU can run, the plainest first. `scalar` is always one of them.
std::span<const instruction_set> usable_instruction_sets() noexcept;

/// For chosen_instruction_set(), which is inlined because small batches call it.
constexpr auto undecided_instruction_set = static_cast<instruction_set>(instruction_sets);
extern std::atomic<instruction_set> instruction_set_choice;
instruction_set first_instruction_set() noexcept;

/// The chosen set: the last that this CPU can run, or the one that the environment variable
/// BLOOMSET_KERNEL names at the first call. A name that is unknown, or that this CPU cannot run, is
/// reported on stderr and ignored.
inline instruction_set chosen_instruction_set() noexcept {
  const instruction_set set = instruction_set_choice.load(std::memory_order_relaxed);
  return set != undecided_instruction_set ? set : first_instruction_set();
}

/// Replaces the choice, for tests and benchmarks. Not thread-safe.
void choose_instruction_set(instruction_set set) noexcept;

/// The kernels of a kind. Their type has the static members scalar, vector256 and vector512, for
/// vectors of so many bits, and vector128 if the kind has NEON kernels, else ARM64 uses the scalar.
template <class Kernels>
const Kernels& kernels_for([[maybe_unused]] instruction_set set) noexcept {
#if defined(__x86_64__)
  if (set == instruction_set::avx512) return Kernels::vector512;
  if (set == instruction_set::avx2) return Kernels::vector256;
#elif defined(__aarch64__)
  if constexpr (requires { Kernels::vector128; }) {
    if (set == instruction_set::neon) return Kernels::vector128;
  }
#endif
  return Kernels::scalar;
}
template <class Kernels>
const Kernels& chosen_kernels() noexcept {
  return kernels_for<Kernels>(chosen_instruction_set());
}

}  // namespace bloomset::detail

#pragma GCC visibility pop
