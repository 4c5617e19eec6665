#pragma once

/// Bloomset's filters inside LevelDB. LevelDB does not read a table whose filter excludes the key.
///
///     const auto policy = bloomset::leveldb_filter_policy::make({.bits_per_key = 10}).value();
///     leveldb::Options options;
///     options.filter_policy = policy.get();  // which must outlive the database
///
/// CMake: bloomset::leveldb_filter_policy.

#include <leveldb/filter_policy.h>

#include <bloomset/image.hpp>
#include <bloomset/result.hpp>
#include <memory>
#include <string>

#pragma GCC visibility push(default)  // a shared build shows it

namespace bloomset {

/// Set one of bits_per_key and fpr. The default is 10 bits per key.
struct leveldb_filter_options {
  /// The kind of new filters. Existing filters are read whatever their kind.
  ///  - ribbon: the lowest rate for its bits. At 10 bits per key it has 0.2%, and LevelDB's own
  ///    filter 0.9%.
  ///  - bloom: the classic. It is made three to five times as fast as ribbon.
  ///  - blocked_bloom, fuse: for filters of many keys. LevelDB makes one filter for the keys of
  ///    2 KiB of a table, or of a block if blocks are larger (Options::block_size). Filters of
  ///    fewer than 1024 keys are made as `bloom` instead of blocked_bloom, and as `ribbon` instead
  ///    of fuse. The rate of blocked_bloom is above that of LevelDB's own filter, and twice as high
  ///    from 14 bits per key on.
  filter_kind kind = filter_kind::ribbon;
  /// From 1 to 64. A filter is at most as large as LevelDB's own with the same value:
  /// max(64, n * bits_per_key) bits and a byte. A fuse filter that needs more is made as ribbon.
  double bits_per_key = 0;
  /// The share of absent keys for which LevelDB reads a table in vain, from 1e-9 to below 1.
  /// Filters are as small as the kind allows.
  double fpr = 0;
};

/// LevelDB's FilterPolicy with Bloomset's filters.
///
/// Name        LevelDB stores the name beside the filters: `bloomset.FilterPolicy.1`. The number is
///             that of the format (docs/use/leveldb.md). Every later policy of that name reads
///             these filters, with any options.
/// Unknown     A filter that is damaged, or of an unknown layout, answers "maybe" for every key.
/// Threads     Any number at once, as LevelDB requires.
class leveldb_filter_policy final : public leveldb::FilterPolicy {
 public:
  static constexpr const char* name = "bloomset.FilterPolicy.1";

  /// Fails with invalid_argument if an option is out of range, or the kind is none of the four.
  static result<std::unique_ptr<const leveldb_filter_policy>> make(
      const leveldb_filter_options& options = {});

  ~leveldb_filter_policy() override;

  const char* Name() const override { return name; }

  /// Appends the filter of n keys, which may repeat. Appends nothing if n is 0. O(n) expected.
  /// Throws std::bad_alloc, as the string does.
  void CreateFilter(const leveldb::Slice* keys, int n, std::string* dst) const override;

  /// Whether the key may be among those of the filter; false is certain. O(1), below 0.1 us for a
  /// filter in cache. Only fuse allocates memory.
  bool KeyMayMatch(const leveldb::Slice& key, const leveldb::Slice& filter) const override;

 private:
  explicit leveldb_filter_policy(const leveldb_filter_options& options);

  leveldb_filter_options options_;
};

}  // namespace bloomset

#pragma GCC visibility pop
