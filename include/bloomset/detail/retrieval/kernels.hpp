#pragma once

// The loops of retrieval, which each instruction set has (src/kinds/retrieval/kernels/). layout.hpp
// specifies places, equations and queries; kernels/loops.inl specifies which starts a build bumps
// and its solution of the equations.

#include <bloomset/detail/retrieval/layout.hpp>
#include <bloomset/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomset::detail {

/// The levels of a solved structure over its payload, read-only.
struct retrieval_levels {
  const std::byte* payload = nullptr;
  std::span<const retrieval_level_view> levels;
};

/// A system of equations: those of one shard. The caller owns the memory.
struct retrieval_job {
  const std::uint64_t* keys = nullptr;    ///< hashes at this level, sorted by start
  const std::uint32_t* values = nullptr;  ///< of the keys; none: their fingerprints
  const std::uint32_t* begins = nullptr;  ///< starts + 1 offsets of the keys of each start
  std::uint64_t starts = 0;
  std::uint64_t groups = 0;  ///< starts, and those of a window except one
  std::uint32_t columns = 0;
  std::uint64_t cut = 0;             ///< the last column of fingerprints is 0 for starts below it
  bool bumps = false;                ///< else a contradiction is a failure
  std::uint64_t first_bucket = 0;    ///< index of the first bucket in codes
  std::byte* codes = nullptr;        ///< initially zero
  std::byte* data = nullptr;         ///< groups * columns, then readable for a window and
                                     ///< retrieval_padding
  std::uint64_t* rows = nullptr;     ///< a window of bits for each of 8 * groups slots, scratch
  std::uint32_t* results = nullptr;  ///< 8 * groups, scratch
};

struct retrieval_kernels {
  void (*matches_fingerprints)(const retrieval_levels&, std::span<const hash64>, bool* answers);
  /// Queries in windows of 64 and of 128 slots.
  void (*retrieve_64)(const retrieval_levels&, std::span<const hash64>, std::uint32_t* values);
  void (*retrieve_128)(const retrieval_levels&, std::span<const hash64>, std::uint32_t* values);
  /// Bring the equations of a job into echelon form, in `rows` and `results`. Return false if they
  /// have no solution.
  bool (*eliminate_64)(const retrieval_job&);
  bool (*eliminate_128)(const retrieval_job&);
  /// Compute the slots from that form. A slot whose row is 0 has its result as value.
  void (*substitute_64)(const retrieval_job&);
  void (*substitute_128)(const retrieval_job&);

  [[gnu::visibility("hidden")]] static const retrieval_kernels scalar, vector128, vector256,
      vector512;
};

/// The kernels for this CPU.
const retrieval_kernels& retrieval_ops() noexcept;

}  // namespace bloomset::detail
