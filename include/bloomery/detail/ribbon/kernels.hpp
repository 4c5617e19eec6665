#pragma once

// Operations of a ribbon filter on many hashes, for one instruction set
// (src/kinds/ribbon/kernels/). The specification is layout.hpp.

#include <bloomery/detail/ribbon/layout.hpp>
#include <bloomery/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::detail {

/// A filter's bytes and their meaning.
struct ribbon_view {
  const std::byte* payload = nullptr;
  std::span<const ribbon_level_view> levels;
};

/// The equations of a run of starts in one shard that have equally many columns, to be solved. The
/// memory is the caller's.
struct ribbon_job {
  const std::uint64_t* keys = nullptr;    ///< hashes at this level, by their starts
  const std::uint32_t* begins = nullptr;  ///< starts + 1: where each start's keys are
  std::uint64_t starts = 0;
  std::uint32_t columns = 0;
  bool bumps = false;                ///< else a key that finds no room is a failure
  std::uint64_t first_bucket = 0;    ///< in codes
  std::byte* codes = nullptr;        ///< begin as zeros
  std::byte* data = nullptr;         ///< groups() * columns; what follows may be read, as far as
                                     ///< a window of the last group and ribbon_padding
  std::uint64_t* bumped = nullptr;   ///< the bumped keys are put here
  std::uint64_t* rows = nullptr;     ///< 8 * groups(), scratch
  std::uint32_t* results = nullptr;  ///< 8 * groups(), scratch

  std::uint64_t groups() const noexcept { return starts + ribbon_window_groups - 1; }
};

struct ribbon_kernels {
  void (*may_contain)(const ribbon_view&, std::span<const hash64>, bool* answers);
  /// Solves the equations; returns how many keys were bumped, or no_solution.
  std::size_t (*build)(const ribbon_job&);
  static constexpr std::size_t no_solution = ~std::size_t{0};
};

/// Those for this CPU.
const ribbon_kernels& ribbon_ops() noexcept;

}  // namespace bloomery::detail
