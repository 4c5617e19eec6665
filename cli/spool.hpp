#pragma once

// Keys that are to be inserted once their number is known, kept as their hashes.

#include <bloomery/any_filter.hpp>
#include <bloomery/detail/core/cardinality.hpp>
#include <bloomery/hash.hpp>
#include <bloomery/result.hpp>
#include <bloomery/storage.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace bloomery::cli {

/// How often keys come, by a sample of them: all while they are few, then those whose hashes have
/// zeros in so many places that some 2^15 to 2^16 keys are left.
class copy_sample {
 public:
  void add(hash64 h) {
    if ((h.value >> first_bit & mask_) != 0) [[likely]]
      return;
    ++copies_[h.value];
    if (copies_.size() > max_keys) thin();
  }

  /// The sum over all keys of their copies, `most` of each at the most. O(sample), as is what
  /// follows.
  double copies_up_to(std::uint64_t most) const noexcept;
  /// Of that sum, relative; 0 as long as the sample is of all keys.
  double standard_error(std::uint64_t most) const noexcept;

 private:
  static constexpr std::size_t max_keys = std::size_t{1} << 16;
  static constexpr unsigned first_bit = 20;

  void thin();

  std::uint64_t mask_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> copies_;
};

/// Keeps the hashes of keys, eight bytes each, until their number is known. In memory up to a
/// limit, then in a nameless temporary file in $TMPDIR, or /tmp; nothing of that is left behind
/// however the process ends. At the end it knows how many keys there were and about how many
/// distinct ones, and gives the hashes back in order, any number of times.
class key_spool {
 public:
  /// An eighth of the machine's memory, but 256 MiB to 1 GiB.
  static std::size_t default_limit() noexcept;

  /// `notice` is told, in a sentence, when the memory's limit is reached.
  explicit key_spool(std::function<void(const std::string&)> notice,
                     std::size_t limit = default_limit());
  key_spool(const key_spool&) = delete;
  key_spool& operator=(const key_spool&) = delete;
  ~key_spool();

  /// Fails with io where the temporary file cannot be made or written.
  result<void> add(std::span<const hash64> hashes);

  std::uint64_t keys() const noexcept { return keys_; }

  /// A number of distinct keys that is, but for a chance of 3 in 100,000, not too low: the estimate
  /// and four of its standard errors (1.6%), or the number of all keys if that is less; at least 1.
  std::uint64_t distinct_keys() const noexcept;

  /// The sum over all keys of their copies, `most` of each at the most; likewise raised by the
  /// estimate's error.
  std::uint64_t keys_in_copies(std::uint64_t most) const noexcept;

  /// Gives all hashes in order, many at a time, until `use` fails.
  result<void> for_each(const std::function<result<void>(std::span<const hash64>)>& use) const;

 private:
  // Hashes in memory that is had at once; so many are given at a time.
  struct chunk {
    owned_storage memory;
    std::size_t size = 0;

    hash64* begin() noexcept { return reinterpret_cast<hash64*>(memory.writable_bytes().data()); }
    std::span<const hash64> hashes() const noexcept {
      return {reinterpret_cast<const hash64*>(memory.bytes().data()), size};
    }
  };

  result<void> spill();

  std::function<void(const std::string&)> notice_;
  std::size_t chunk_hashes_;
  std::size_t max_chunks_;
  std::vector<chunk> chunks_;
  std::uint64_t keys_ = 0;
  std::string folder_;
  int file_ = -1;
  detail::cardinality_estimator distinct_;
  copy_sample copies_;
};

}  // namespace bloomery::cli
