#pragma once

// The partitions that a build of an exact filter meets, by number, and what it counts in each.

#include <algorithm>
#include <array>
#include <bit>
#include <bloomset/detail/core/bits.hpp>
#include <bloomset/detail/core/source_memory.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/plan/numeric.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomset::detail {

/// Numbers partitions in the order in which they are found.
class partition_table {
 public:
  /// The number of a partition, which is new if the table has not found it before.
  std::uint32_t number_of(hash64 partition) {
    if (2 * hashes_.size() >= places_.size()) grow();
    std::uint32_t& place = places_[place_of(partition)];
    if (place == 0) {
      hashes_.push_back(partition);
      place = static_cast<std::uint32_t>(hashes_.size());
    }
    return place - 1;
  }
  /// The same, or the largest number for a partition that was not found before.
  std::uint32_t find(hash64 partition) const noexcept {
    return places_.empty() ? ~std::uint32_t{0} : places_[place_of(partition)] - 1;
  }
  /// By number.
  std::span<const hash64> hashes() const noexcept { return hashes_; }

 private:
  /// Where the partition is, or the free place where it would be.
  std::size_t place_of(hash64 partition) const noexcept {
    const std::size_t mask = places_.size() - 1;
    std::size_t at = remix64(partition.value) & mask;
    while (places_[at] != 0 && hashes_[places_[at] - 1] != partition) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    places_.assign(std::max<std::size_t>(1024, 2 * places_.size()), 0);
    for (std::uint32_t i = 0; i < hashes_.size(); ++i) places_[place_of(hashes_[i])] = i + 1;
  }

  source_vector<std::uint32_t> places_;  // a power of two; numbers from 1, 0 is free
  source_vector<hash64> hashes_;
};

/// An estimate of the number of distinct hashes, from 256 registers: HyperLogLog with a standard
/// error of 6.5%, and linear counting for few (Flajolet, Fusy, Gandouet, Meunier, 2007). It decides
/// a number of columns, on which the size hardly depends where two numbers are near.
class distinct_sketch {
 public:
  void add(hash64 h) noexcept {
    std::uint8_t& most = registers_[h.value >> 56];
    const auto rank = static_cast<std::uint8_t>(std::countl_zero(h.value << 8 | 0x80) + 1);
    most = std::max(most, rank);
  }
  std::uint64_t estimate() const noexcept {
    constexpr double size = 256;
    double sum = 0;
    double zeros = 0;
    for (const std::uint8_t rank : registers_) {
      sum += 1 / static_cast<double>(std::uint64_t{1} << rank);
      zeros += rank == 0;
    }
    const double raw = 0.7213 / (1 + 1.079 / size) * size * size / sum;
    const bool counts = raw <= 2.5 * size && zeros != 0;
    return static_cast<std::uint64_t>(counts ? size * numeric::log(size / zeros) : raw);
  }

 private:
  std::array<std::uint8_t, 256> registers_{};
};

/// What a build knows of a partition that has members.
struct partition_state {
  std::uint64_t members = 0;
  std::uint64_t held = 0;  // members, or the other keys if they are fewer
  std::uint64_t kept = 0;  // keys that are not held and pass the first section
  std::uint32_t first = 0;
  bool is_constant = false;  // all its keys are members
  bool negated = false;
  bool collects = true;               // its other keys may still be fewer than its members
  source_vector<hash64> others = {};  // those, while it collects
  distinct_sketch universe = {};
};

}  // namespace bloomset::detail
