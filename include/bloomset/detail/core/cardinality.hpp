#pragma once

// The number of distinct hashes, estimated in 64 KiB: HyperLogLog.

#include <array>
#include <bit>
#include <bloomset/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

namespace bloomset::detail {

/// Filters of keys whose number is not known are planned for their exact number up to this one, so
/// that repeated keys do not change the size; beyond, for upper_bound().
inline constexpr std::size_t max_counted_keys = std::size_t{1} << 16;

/// Estimates the number of distinct hashes among those that were added, with any repetitions.
///
/// Each of 2^16 registers has the greatest rank among its hashes (Flajolet, Fusy, Gandouet,
/// Meunier, "HyperLogLog: the analysis of a near-optimal cardinality estimation algorithm", 2007).
/// The estimate is Ertl's improved raw one ("New cardinality estimation algorithms for HyperLogLog
/// sketches", 2017, algorithm 6). It needs neither linear counting for few hashes nor a table of
/// corrections.
class cardinality_estimator {
 public:
  /// The relative standard error, 1.04 / sqrt(2^16) = 0.41%.
  static constexpr double standard_error = 1.04 / 256;

  void add(hash64 h) noexcept {
    // The first 16 bits choose the register. The rank is the position of the first 1 among the
    // other 48 bits, or 49 if there is none.
    const auto index = static_cast<std::size_t>(h.value >> (64 - index_bits));
    const auto rank = static_cast<std::uint8_t>(
        std::countl_zero((h.value << index_bits) | (std::uint64_t{1} << (index_bits - 1))) + 1);
    registers_[index] = detail::max(registers_[index], rank);
  }

  /// Adds all hashes that were added to the other. O(2^16).
  void merge(const cardinality_estimator& other) noexcept { merge(other.registers()); }

  std::span<const std::uint8_t> registers() const noexcept { return registers_; }
  /// Adds all hashes that were added to the estimator with these registers. False, and no change,
  /// if no estimator has such registers.
  bool merge(std::span<const std::uint8_t> registers) noexcept;

  /// O(2^16).
  double estimate() const noexcept;

  /// An upper bound for the distinct ones among `added` hashes, wrong with probability 3 in
  /// 100,000: the estimate plus four standard errors (1.6%), at most `added`, and at least 1.
  std::uint64_t upper_bound(std::uint64_t added) const noexcept;

 private:
  static constexpr unsigned index_bits = 16;
  static constexpr unsigned rank_bits = 64 - index_bits;

  std::array<std::uint8_t, std::size_t{1} << index_bits> registers_{};
};

/// The number of distinct keys for which a filter is planned, from their hashes in any order and
/// from the states of other counters.
class distinct_counter {
 public:
  void add(std::span<const hash64> hashes);

  std::uint64_t added() const noexcept { return added_; }  ///< with repetitions
  /// The exact number up to max_counted_keys, at least 1. An upper bound for a larger one; see
  /// cardinality_estimator::upper_bound().
  std::uint64_t distinct() const noexcept;

  /// 64 KiB, and 8 bytes for each hash up to max_counted_keys distinct ones.
  std::vector<std::byte> state() const;
  /// Adds all hashes that were added to the counter with that state. False, and no change, if no
  /// counter has it.
  bool merge(std::span<const std::byte> state);

 private:
  void find(std::uint64_t hash);

  cardinality_estimator estimator_;
  std::unordered_set<std::uint64_t> found_;  // empty if there are too many
  bool too_many_ = false;
  std::uint64_t added_ = 0;
};

}  // namespace bloomset::detail
