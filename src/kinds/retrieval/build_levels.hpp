#pragma once

// The build of levels, which retrieval and the ribbon filter share: level after level, each shard
// by shard. The kernels solve the equations (kernels/loops.inl). A plan decides the shapes.

#include <bloomset/detail/core/valued_hash.hpp>
#include <bloomset/detail/retrieval/level.hpp>
#include <bloomset/hash_source.hpp>
#include <bloomset/result.hpp>
#include <bloomset/storage.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomset::detail {

/// What differs between structures of levels. Called from one thread, in this order: begin() once,
/// level_for() and, if that level bumps, finish_level(), again and again, then end() once.
class level_planner {
 public:
  level_planner() = default;
  level_planner(const level_planner&) = delete;
  level_planner& operator=(const level_planner&) = delete;
  virtual ~level_planner() = default;

  /// The number of distinct hashes is known, or estimated. Returns the number to plan for.
  virtual result<std::uint64_t> begin(std::uint64_t distinct, bool is_estimate) = 0;
  /// The next level, for n >= 1 keys, without its seed.
  virtual retrieval_level level_for(std::uint64_t n, unsigned attempt) = 0;
  /// A level that bumps has these codes.
  virtual void finish_level(const retrieval_level& level, const std::byte* codes) = 0;
  /// All levels are built.
  virtual result<void> end(std::uint64_t count, std::uint64_t payload_bytes) = 0;
};

/// Marks the value of another key in a guided build. Such a key is not stored, but should not have
/// its value.
inline constexpr std::uint32_t other_key = std::uint32_t{1} << 31;

struct level_request {
  std::string_view structure;    ///< for messages, such as "a ribbon filter"
  std::uint64_t seed = 0;        ///< any number; the seeds of levels are derived from it
  unsigned threads = 1;          ///< 0: one per core
  std::uint32_t value_mask = 0;  ///< of the values of a valued_hash_source
  bool guided = false;           ///< the source has other keys, marked by other_key
};

struct built_levels {
  std::vector<retrieval_level> levels;
  owned_storage payload;
  std::uint64_t count = 0;
  std::uint64_t passing = 0;  ///< other keys that have their value
};

/// Builds levels whose values are fingerprints. Throws std::bad_alloc.
result<built_levels> build_levels(const level_request& request, const hash_source& source,
                                  level_planner& planner);
/// Builds levels of the values of the source. Throws std::bad_alloc. Fails with incompatible if a
/// hash has two values. A guided build chooses free slots so that few other keys have their values
/// (guided.hpp); planners then see the number of members, and a hash of a member and another key
/// is the member's.
result<built_levels> build_levels(const level_request& request, const valued_hash_source& source,
                                  level_planner& planner);

/// The bumped starts of the bucket whose number is `bucket`.
std::uint64_t bumped_starts(const retrieval_level& level, const std::byte* codes,
                            std::uint64_t bucket) noexcept;

}  // namespace bloomset::detail

#pragma GCC visibility pop
