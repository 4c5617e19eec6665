#pragma once

// New lines that a filter drops as repeated ones.

#include <cstdint>
#include <string>

namespace bloomset::cli {

/// The expected number of new lines that were dropped as repeated ones.
class lost_lines {
 public:
  /// The rate is read first when `first_step` keys are in the filter.
  explicit lost_lines(std::uint64_t first_step = 1024) noexcept
      : first_step_(first_step), next_(first_step) {}

  /// Counts keys that the filter took as new. Its rate is read when their number has grown by an
  /// eighth, because that reads the whole filter.
  template <class Filter>
  void add(const Filter& seen, std::uint64_t newly_inserted) {
    inserted_ += newly_inserted;
    if (inserted_ >= next_) read_rate(seen.current_fpr());
  }
  /// The filter's rate now. To be called at the end, too.
  void read_rate(double rate);

  /// The keys counted were those of one of several filters, which hold `keys` in all.
  void scale(std::uint64_t keys) noexcept;

  /// Counts lines that the filter did not contain while it did not change any more. Only hashes of
  /// 64 bits told them apart.
  void add_later(std::uint64_t lines) noexcept;

  /// A sentence, or nothing if no line was dropped or hardly any can be missing.
  std::string sentence(std::uint64_t dropped) const;

 private:
  std::uint64_t first_step_;
  std::uint64_t next_;
  std::uint64_t inserted_ = 0;
  std::uint64_t read_at_ = 0;
  double odds_ = 0;
  double expected_ = 0;
};

}  // namespace bloomset::cli
