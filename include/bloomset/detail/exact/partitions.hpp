#pragma once

// The directory and the sections of an exact filter with partitions, and their queries.

#include <array>
#include <bloomset/detail/exact/sections.hpp>
#include <bloomset/detail/retrieval/kernels.hpp>
#include <bloomset/detail/retrieval/layout.hpp>
#include <bloomset/partitioned_hash.hpp>
#include <bloomset/plan/partitioned_exact_plan.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bloomset::detail {

/// The fingerprint's bits of the guided section begin here in all partitions, so that a section
/// needs no partitions.
inline constexpr std::uint32_t partitioned_guided_shift = max_first_columns;

/// Places in a payload, which is passed to each query.
class exact_partitions {
 public:
  exact_partitions() = default;
  /// Precondition: the parameters are possible.
  explicit exact_partitions(const partitioned_exact_params& params);

  /// The class of a partition, or nothing if the filter does not have it. O(log partitions).
  std::optional<partition_class> find(const std::byte* payload, hash64 partition) const noexcept {
    std::uint64_t first = 0;
    for (std::uint64_t size = partitions_; size > 1;) {
      const std::uint64_t half = size / 2;
      if (load<std::uint64_t>(payload + 8 * (first + half)) <= partition.value) first += half;
      size -= half;
    }
    if (partitions_ == 0 || load<std::uint64_t>(payload + 8 * first) != partition.value) return {};
    return partition_class::of_byte(payload[8 * partitions_ + first]);
  }

  bool contains(const std::byte* payload, const partitioned_hash& h) const noexcept {
    const auto found = find(payload, h.partition);
    if (!found) return false;
    return holds(payload, *found, h.joined()) != found->negated();
  }

  /// The same for a batch. Precondition: answers has room for it.
  void contains(const std::byte* payload, std::span<const partitioned_hash> hashes,
                bool* answers) const noexcept;

 private:
  using views = std::vector<retrieval_level_view>;

  bool holds(const std::byte* payload, partition_class of, hash64 h) const noexcept {
    if (of.is_constant()) return false;
    const std::uint32_t fingerprint = fingerprint_of(h.value);
    const auto matches = [&](std::uint32_t value, std::uint32_t shift, std::uint32_t columns) {
      return value == ((fingerprint >> shift) & column_mask(columns));
    };
    return matches(retrieve<window_128>(payload, first_[of.first()], h), 0, of.first()) &&
           matches(retrieve<window_64>(payload, guided_[of.guided()], h), partitioned_guided_shift,
                   of.guided()) &&
           retrieve<window_128>(payload, last_, last_section_hash(h)) != 0;
  }

  // By columns. Sections that do not exist have no levels, and the value 0.
  std::array<views, 32> first_;
  std::array<views, 4> guided_;
  views last_;
  std::uint64_t partitions_ = 0;
};

}  // namespace bloomset::detail
