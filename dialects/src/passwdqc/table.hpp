#pragma once

// passwdqc's filter: a cuckoo filter of hashes of 128 bits, as pwqfilter 2 writes and pwqcheck and
// pam_passwdqc read it.

#include <array>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "passwdqc/bucket.hpp"

namespace bloomset::dialects::passwdqc {

/// What a filter's hashes are made from.
enum class hash_type : std::uint8_t { opaque, md4, ntlm_cp1252 };

inline constexpr std::size_t header_bytes = 64;
inline constexpr std::size_t hash_bytes = 16;
inline constexpr std::uint64_t max_buckets = 0xffffffff;

/// The first 64 bytes of a file.
struct header {
  std::uint8_t threshold =
      2;  ///< entries of a key's first bucket from which on it may be in its second
  std::uint8_t bucket_size = 2;  ///< the largest so far; threshold <= bucket_size <= max_entries
  hash_type hash = hash_type::opaque;
  std::uint64_t capacity = 0;  ///< places for fingerprints, a multiple of max_entries
  std::uint64_t deletes = 0;
  std::uint64_t inserts = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t kicks = 0;

  std::uint64_t buckets() const noexcept { return capacity / max_entries; }
  std::uint64_t count() const noexcept { return inserts - deletes; }
};

/// Fails with corrupt or unsupported. `size` is that of the whole file.
result<header> read_header(std::span<const std::byte> first, std::uint64_t size);
std::vector<std::byte> write_header(const header& of);

/// Whether the first bytes are those of such a file, of any version.
bool begins_as_filter(std::span<const std::byte> first) noexcept;

/// A hash as the filter knows it: its first bucket, and a fingerprint.
struct place {
  std::uint64_t bucket;
  std::uint64_t fingerprint;
};

/// Questions to the buckets. They may be malformed: nothing outside them is read.
class table_view {
 public:
  table_view(const header& head, std::span<const std::byte> buckets) noexcept
      : head_(head), buckets_(buckets) {}

  /// Precondition: hash_bytes bytes.
  place place_of(std::string_view hash) const noexcept;
  void prefetch(const place& of) const noexcept {
    __builtin_prefetch(buckets_.data() + of.bucket * bucket_bytes);
    asm volatile("");  // keeps g++ 12 from deleting calls of a function that only prefetches
  }

  /// The buckets' malformed ones count as matches: "no" stays certain.
  bool may_contain(const place& of) const noexcept;

  /// The number of the first malformed bucket, or of one with more entries than the header says.
  std::optional<std::uint64_t> find_malformed() const noexcept;
  std::uint64_t count_entries() const noexcept;
  /// The chance that a random hash is found.
  double current_fpr() const noexcept;

  /// The second bucket of a fingerprint in that bucket; the second of the second is the first.
  std::uint64_t other_bucket(std::uint64_t bucket, std::uint64_t fingerprint) const noexcept;
  std::optional<bucket> read(std::uint64_t number) const noexcept;
  bool has(const bucket& entries, std::uint64_t fingerprint) const noexcept;

 private:
  /// The bits in which a stored fingerprint must agree with a hash's.
  unsigned width_of(std::uint64_t stored) const noexcept;

  const header& head_;
  std::span<const std::byte> buckets_;
};

enum class insert_answer : std::uint8_t { inserted, maybe_present, full };

/// Inserts into well-formed buckets. It keeps the memory of its searches from insert to insert.
class inserter {
 public:
  /// Both must outlive this object.
  inserter(header& head, std::span<std::byte> buckets) noexcept
      : head_(head), view_(head, buckets), buckets_(buckets) {}

  const table_view& view() const noexcept { return view_; }

  /// O(1) expected, up to about 97% of the capacity. `full` changes nothing.
  insert_answer insert(const place& of);

 private:
  /// A bucket on a way of moves: the step before it, itself for the first one, and the entry there
  /// that would move into this bucket.
  struct step {
    std::uint64_t bucket;
    std::uint32_t before;
    std::uint8_t entry;
  };

  void put(std::uint64_t number, const bucket& entries) noexcept {
    entries.write(buckets_.data() + number * bucket_bytes);
  }
  bool put_with_moves(const place& of);
  bool is_first(std::uint32_t at) const noexcept { return steps_[at].before == at; }
  bool is_on_way(std::uint32_t last, std::uint64_t number) const noexcept;
  void move_along(std::uint32_t last, std::uint64_t fingerprint) noexcept;
  bool may_grow() const noexcept;

  header& head_;
  table_view view_;
  std::span<std::byte> buckets_;
  std::vector<step> steps_;
};

/// The places for a number of keys such that all of them are inserted.
std::uint64_t capacity_for(std::uint64_t keys) noexcept;

}  // namespace bloomset::dialects::passwdqc
