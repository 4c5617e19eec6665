#pragma once

/// Static retrieval: a function from n known hashes to r bits each, 1 <= r <= 32, in r n (1 +
/// overhead) bits. For other hashes it gives any value. It is not a kind of filter, but the layer
/// that such kinds store their values with.
///
/// Each key has an equation over W neighbouring slots of r bits: the XOR of about half of them is
/// the key's value. Keys whose equations contradict others are bumped to the next level. The ribbon
/// filter has the same levels with fingerprints as values, which it does not store but computes
/// (src/kinds/retrieval/build_levels.hpp).
///
/// Overhead    In percent of r n bits, without the parameters and 64 bytes at the end:
///                 keys                1000    10,000    100,000   1,000,000
///                 r = 1, W = 128      0.8     0.9       0.47      0.46
///                 r = 4, W = 128      0.8     0.6       0.19      0.15
///                 r = 8, W = 64       2.5     0.7       0.36      0.30

#include <bloomset/detail/core/record.hpp>
#include <bloomset/detail/core/valued_hash.hpp>
#include <bloomset/detail/retrieval/kernels.hpp>
#include <bloomset/detail/retrieval/level.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/result.hpp>
#include <bloomset/storage.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomset::detail {

inline constexpr std::uint32_t max_retrieval_columns = 32;

/// A request for a build.
struct retrieval_spec {
  std::uint32_t columns = 1;  ///< r, 1 .. 32
  std::uint32_t width = 0;    ///< W, 64 or 128; 0: the default for this number of columns
  std::uint64_t seed = 0;     ///< any number; the seeds of levels are derived from it
  unsigned threads = 1;       ///< 0: one per core; the result is the same
};

/// The width that needs least memory at little cost: 128 slots up to 4 columns, else 64. Codes are
/// 1.6% of a column with windows of 64 slots, and 0.4% with 128.
constexpr std::uint32_t default_retrieval_width(std::uint32_t columns) noexcept {
  return columns <= 4 ? 128 : 64;
}

/// The parameters that fix the layout. All levels have the same columns and width.
struct retrieval_params {
  std::uint32_t columns = 1;            ///< r, 1 .. 32
  std::uint32_t width = 64;             ///< W, 64 or 128
  std::vector<retrieval_level> levels;  ///< empty without keys; all except the last bump

  /// The bytes of the payload: those of all levels, and retrieval_padding; 0 without levels.
  std::uint64_t payload_bytes() const noexcept;
  /// Whether all values are in their ranges. payload_bytes() and queries assume it.
  bool possible() const noexcept;

  /// Writes the parameters as fields of a parameter block: columns, width, levels (u32), zero
  /// (u32), and for each level seed, shards and starts (u64).
  void write(record_writer& writer) const;
  /// Reads the fields again. A value out of its range leaves parameters that are not possible().
  static retrieval_params read(record_reader& reader);
};

/// The result of a build.
struct built_retrieval {
  retrieval_params params;
  owned_storage payload;    ///< payload_bytes() of the parameters
  std::uint64_t count = 0;  ///< distinct hashes
};

/// Builds the function that gives each hash the lowest r bits of its value. Hashes come in any
/// order, with any repetitions. The same set gives the same bytes, on every CPU and with any number
/// of threads. The hashes have to be uniform, as those of filter_hasher are.
///
/// Time        O(n). Reads the source two to five times.
/// Memory      Besides the result: at most 96 MiB or 4 bytes per distinct key, whichever is more,
///             for hashes of a group of shards; about 0.7 bytes per key for bumped keys; 5 MB per
///             thread. At the end it has freed these, and needs the size of the result a second
///             time. Hashes that are not uniform need more.
/// Failure     Does not fail by chance: a last level without a solution is tried with other seeds.
///             incompatible: a hash has two values, in their lowest r bits. The caller then hashes
///             its keys with another seed; for n random hashes the probability is n^2 / 2^65.
///             invalid_argument: columns or width out of range, more than 2^48 keys, or hashes that
///             were chosen to collide. out_of_memory. The failure of the source.
/// Threads     Builds do not share state.
result<built_retrieval> build_retrieval(const retrieval_spec& spec,
                                        const valued_hash_source& source);
/// The same for hashes in memory.
result<built_retrieval> build_retrieval(const retrieval_spec& spec,
                                        std::span<const valued_hash> hashes);

/// Queries over a payload, such as a mapped file, which must outlive the view. Opening does not
/// read the slots, and no query reads beyond the payload, whatever bytes it has. Concurrent queries
/// are safe.
class retrieval_view {
 public:
  /// An empty function, whose values are 0.
  retrieval_view() = default;

  /// Fails with corrupt if the parameters are not possible, if the payload has not the size that
  /// they give, or if its last 64 bytes are not zero. O(levels).
  static result<retrieval_view> open(const retrieval_params& params,
                                     std::span<const std::byte> payload);

  /// The value of a hash: that of the build if the hash was in it, else any value below 2^r. O(1):
  /// W r / 8 adjacent bytes, and a byte of codes, for 95% of the keys.
  std::uint32_t get(hash64 h) const noexcept {
    return width_ == 64 ? retrieve<window_64>(payload_, levels_, h)
                        : retrieve<window_128>(payload_, levels_, h);
  }

  /// The same for a batch, which prefetches and uses vectors. Precondition: values.size() >=
  /// hashes.size().
  void get(std::span<const hash64> hashes, std::span<std::uint32_t> values) const noexcept;

 private:
  const std::byte* payload_ = nullptr;
  std::vector<retrieval_level_view> levels_;
  std::uint32_t width_ = 64;
};

/// The views of levels that lie one after the other from the beginning of a payload on, which ends
/// with retrieval_padding zeros.
std::vector<retrieval_level_view> retrieval_views(std::span<const retrieval_level> levels);
/// The same for levels from byte `at` of a payload on, whose zeros are at `zeros`.
std::vector<retrieval_level_view> retrieval_views(std::span<const retrieval_level> levels,
                                                  std::uint64_t at, std::uint64_t zeros);

/// The bytes of such a payload; 0 without levels.
std::uint64_t retrieval_payload_bytes(std::span<const retrieval_level> levels) noexcept;

/// Whether a payload has this size and the zeros at its end. O(levels).
bool is_retrieval_payload(std::span<const retrieval_level> levels,
                          std::span<const std::byte> payload) noexcept;

}  // namespace bloomset::detail
