#pragma once

// The loops of a ribbon filter, which each instruction set has (src/kinds/ribbon/kernels/).
// layout.hpp specifies places, equations and queries; kernels/loops.inl specifies which starts a
// build bumps and its solution of the equations.

#include <bloomset/detail/ribbon/layout.hpp>
#include <bloomset/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomset::detail {

/// A filter, read-only.
struct ribbon_view {
  const std::byte* payload = nullptr;
  std::span<const ribbon_level_view> levels;
};

/// A system of equations: those of a run of starts of one shard, with equally many columns. The
/// caller owns the memory.
struct ribbon_job {
  const std::uint64_t* keys = nullptr;    ///< hashes at this level, sorted by start
  const std::uint32_t* begins = nullptr;  ///< starts + 1 offsets of the keys of each start
  std::uint64_t starts = 0;
  std::uint32_t columns = 0;
  bool bumps = false;                ///< else a contradiction is a failure
  std::uint64_t first_bucket = 0;    ///< index of the first bucket in codes
  std::byte* codes = nullptr;        ///< initially zero
  std::byte* data = nullptr;         ///< groups() * columns, then readable for 7 more groups and
                                     ///< ribbon_padding
  std::uint64_t* bumped = nullptr;   ///< output: the bumped keys
  std::uint64_t* rows = nullptr;     ///< 8 * groups(), scratch
  std::uint32_t* results = nullptr;  ///< 8 * groups(), scratch

  std::uint64_t groups() const noexcept { return starts + ribbon_window_groups - 1; }
};

struct ribbon_kernels {
  void (*may_contain)(const ribbon_view&, std::span<const hash64>, bool* answers);
  /// Solves the equations; returns the number of bumped keys, or no_solution.
  std::size_t (*build)(const ribbon_job&);
  static constexpr std::size_t no_solution = ~std::size_t{0};

  [[gnu::visibility("hidden")]] static const ribbon_kernels scalar, vector128, vector256, vector512;
};

/// The kernels for this CPU.
const ribbon_kernels& ribbon_ops() noexcept;

}  // namespace bloomset::detail
