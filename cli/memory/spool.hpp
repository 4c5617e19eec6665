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

/// Keeps hashes, or hashes with values, in memory up to a limit, then in a temporary file. Returns
/// them any number of times.
template <class Entry>
class entry_spool {
 public:
  using sink = typename basic_hash_source<Entry>::sink;

  /// Calls `notice` with the file's folder when the limit is reached. With several parts
  /// (parted_file.hpp) the entries of the file are returned in the order of the parts, else as they
  /// were added.
  entry_spool(std::function<void(const std::string& folder)> notice, std::size_t limit,
              unsigned parts);
  // The notice may refer to the spool.
  entry_spool(const entry_spool&) = delete;
  entry_spool& operator=(const entry_spool&) = delete;
  ~entry_spool() = default;

  /// Fails with io if the temporary file cannot be created or written.
  result<void> keep(std::span<const Entry> entries);

  /// Calls `use` with all entries, in large batches, until it fails.
  result<void> for_each(const sink& use) const;

  /// The same with the entries whose hashes' first 8 bits are `part`. Preconditions: 256 parts, and
  /// spill() was called after the last entry.
  result<void> for_each_in_part(unsigned part, const sink& use) const {
    return file_->for_each_in(part, part + 1, std::size_t{1} << 17, use, [] {});
  }

  /// Whether for_each() returns the entries part by part.
  bool in_parts() const noexcept { return file_ && file_->in_parts(); }

  /// Moves all entries to the file, and frees their memory.
  result<void> spill();

 private:
  // Entries in one allocation, and one call of for_each().
  struct chunk {
    owned_storage memory;
    std::size_t size = 0;

    Entry* begin() noexcept { return reinterpret_cast<Entry*>(memory.writable_bytes().data()); }
    std::span<const Entry> entries() const noexcept {
      return {reinterpret_cast<const Entry*>(memory.bytes().data()), size};
    }
  };

  std::function<void(const std::string&)> notice_;
  unsigned parts_;
  std::size_t chunk_entries_;
  std::size_t max_chunks_;
  std::vector<chunk> chunks_;
  std::optional<parted_file<Entry>> file_;
};

/// Counts keys, and keeps their hashes, 8 bytes each.
class key_spool : public key_counter, public entry_spool<hash64> {
 public:
  /// One eighth of the machine's memory, clamped to 256 MiB to 1 GiB.
  static std::size_t default_limit() noexcept;

  /// Calls `notice` with a sentence when the limit is reached.
  explicit key_spool(std::function<void(const std::string&)> notice,
                     std::size_t limit = default_limit(), unsigned parts = 1);

  /// Counts and keeps hashes.
  result<void> add(std::span<const hash64> hashes) {
    count(hashes);
    return keep(hashes);
  }
};

}  // namespace bloomset::cli
