#pragma once

/// Bloomery's filters inside LevelDB: a table that cannot hold a key is not read.
///
///     const auto policy = bloomery::leveldb_filter_policy::make({.bits_per_key = 10}).value();
///     leveldb::Options options;
///     options.filter_policy = policy.get();  // which must outlive the database
///
/// CMake: bloomery::leveldb_filter_policy.

#include <leveldb/filter_policy.h>

#include <bloomery/image.hpp>
#include <bloomery/result.hpp>
#include <memory>
#include <string>

#pragma GCC visibility push(default)  // a shared build shows it

namespace bloomery {

/// One of bits_per_key and fpr; neither is 10 bits a key.
struct leveldb_filter_options {
  /// What filters are made as; those that were made before are read whatever they are.
  ///  - ribbon: the lowest rate for its bits: at 10 bits a key 0.2% where LevelDB's own has 0.9%.
  ///  - bloom: the classic; made three to five times as fast as ribbon.
  ///  - blocked_bloom, fuse: for filters of many keys: LevelDB makes one for the keys that begin
  ///    in 2 KiB of a table, or for a block where blocks are larger (Options::block_size). Below
  ///    1024 keys `bloom` stands in for blocked_bloom, and `ribbon` for fuse. blocked_bloom's rate
  ///    is above LevelDB's own, twice it at 14 bits a key and more.
  filter_kind kind = filter_kind::ribbon;
  /// From 1 to 64. A filter is at most as large as LevelDB's own with so many: n bits_per_key
  /// bits, at least 64, and a byte. (A fuse filter that finds no room in that is made as ribbon.)
  double bits_per_key = 0;
  /// The share of absent keys for which a table is read in vain, from 1e-9 to below 1. Filters are
  /// as small as the kind allows.
  double fpr = 0;
};

/// LevelDB's FilterPolicy with filters of ours.
///
/// The name, which LevelDB stores beside the filters, is `bloomery.FilterPolicy.1`: the number is
/// the format's (docs/leveldb.md), and what a policy of that name has once written, every later one
/// reads, with any options. A filter of another layout than those known says "maybe" for every key,
/// as does one that is damaged. Threads: any number at once, as LevelDB demands.
class leveldb_filter_policy final : public leveldb::FilterPolicy {
 public:
  static constexpr const char* name = "bloomery.FilterPolicy.1";

  /// Fails with invalid_argument where an option is out of range, or the kind is none of the four.
  static result<std::unique_ptr<const leveldb_filter_policy>> make(
      const leveldb_filter_options& options = {});

  ~leveldb_filter_policy() override;

  const char* Name() const override { return name; }

  /// Appends the filter of n keys, which may repeat. Nothing for none. O(n) expected. Throws
  /// std::bad_alloc, as the string does.
  void CreateFilter(const leveldb::Slice* keys, int n, std::string* dst) const override;

  /// Whether the key may be among those of the filter: false is certain. O(1), no allocation but
  /// for fuse; below 0.1 us for a filter in cache.
  bool KeyMayMatch(const leveldb::Slice& key, const leveldb::Slice& filter) const override;

 private:
  explicit leveldb_filter_policy(const leveldb_filter_options& options);

  leveldb_filter_options options_;
};

}  // namespace bloomery

#pragma GCC visibility pop
