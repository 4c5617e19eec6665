#pragma once

// The number of keys of a stream, and their hashes, kept until that number is known.

#include <algorithm>
#include <bloomset/any_filter.hpp>
#include <bloomset/detail/core/cardinality.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/result.hpp>
#include <bloomset/storage.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "memory/parted_file.hpp"

namespace bloomset::cli {

/// Estimates the copies per key from a sample: all keys while they are few, then the keys whose
/// hash has enough zero bits at fixed positions that 2^15 to 2^16 keys remain.
class copy_sample {
 public:
  void add(hash64 h) {
    if ((h.value >> first_bit & mask_) != 0) [[likely]]
      return;
    ++copies_[h.value];
    if (copies_.size() > max_keys) thin();
  }

  /// The number of distinct keys, if the sample has all of them.
  std::optional<std::uint64_t> distinct() const noexcept {
    return mask_ == 0 ? std::optional<std::uint64_t>(copies_.size()) : std::nullopt;
  }
  /// The sum over all keys of min(copies, max_copies). O(sample).
  double copies_up_to(std::uint64_t max_copies) const noexcept;
  /// The relative standard error of that sum; 0 while the sample has all keys. O(sample).
  double standard_error(std::uint64_t max_copies) const noexcept;

 private:
  static constexpr std::size_t max_keys = detail::max_counted_keys;
  static constexpr unsigned first_bit = 20;

  void thin();

  std::uint64_t mask_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> copies_;
};

/// Counts the keys of a stream by their hashes, and estimates the distinct ones.
class key_counter {
 public:
  void count(std::span<const hash64> hashes);

  std::uint64_t keys() const noexcept { return keys_; }  ///< counted

  /// The number of distinct keys up to max_counted_keys, at least 1. An upper bound for a larger
  /// one; see cardinality_estimator::upper_bound(). It does not depend on the order of the keys.
  std::uint64_t distinct_keys() const noexcept {
    const auto known = copies_.distinct();
    return known ? std::max<std::uint64_t>(1, *known) : distinct_.upper_bound(keys_);
  }

  /// An upper bound for the sum over all keys of min(copies, max_copies), from the estimate and
  /// four standard errors.
  std::uint64_t keys_in_copies(std::uint64_t max_copies) const noexcept;

 private:
  std::uint64_t keys_ = 0;
  detail::cardinality_estimator distinct_;
  copy_sample copies_;
};

/// Keeps the hashes of keys, 8 bytes each, in memory up to a limit, then in a temporary file.
/// Counts the keys, and returns the hashes any number of times.
class key_spool : public key_counter {
 public:
  /// One eighth of the machine's memory, clamped to 256 MiB to 1 GiB.
  static std::size_t default_limit() noexcept;

  /// Calls `notice` with a sentence when the limit is reached. With several parts (parted_file.hpp)
  /// the hashes of the file are returned in the order of the parts, else as they were added.
  explicit key_spool(std::function<void(const std::string&)> notice,
                     std::size_t limit = default_limit(), unsigned parts = 1);

  /// Counts and keeps hashes. Fails with io if the temporary file cannot be created or written.
  result<void> add(std::span<const hash64> hashes) {
    count(hashes);
    return keep(hashes);
  }
  /// Keeps hashes that were counted, or some of them.
  result<void> keep(std::span<const hash64> hashes);

  /// Calls `use` with all hashes, in large batches, until it fails.
  result<void> for_each(const std::function<result<void>(std::span<const hash64>)>& use) const;

  /// The same with the hashes whose first 8 bits are `part`. Preconditions: 256 parts, and spill()
  /// was called after the last hash.
  result<void> for_each_in_part(unsigned part, const hash_source::sink& use) const {
    return file_->for_each_in(part, part + 1, std::size_t{1} << 17, use, [] {});
  }

  /// Whether for_each() returns the hashes part by part.
  bool in_parts() const noexcept { return file_ && file_->in_parts(); }

  /// Moves all hashes to the file, and frees their memory.
  result<void> spill();

 private:
  // Hashes in one allocation, and one call of for_each().
  struct chunk {
    owned_storage memory;
    std::size_t size = 0;

    hash64* begin() noexcept { return reinterpret_cast<hash64*>(memory.writable_bytes().data()); }
    std::span<const hash64> hashes() const noexcept {
      return {reinterpret_cast<const hash64*>(memory.bytes().data()), size};
    }
  };

  std::function<void(const std::string&)> notice_;
  unsigned parts_;
  std::size_t chunk_hashes_;
  std::size_t max_chunks_;
  std::vector<chunk> chunks_;
  std::optional<parted_file<hash64>> file_;
};

}  // namespace bloomset::cli
