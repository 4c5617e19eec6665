#pragma once

// What SQL engines share: the hashes of a column's keys, collected until all are there, and the
// filter of them. The command line plans a filter in the same way, so that both make the same file.

#include <bloomery/any_filter.hpp>
#include <bloomery/detail/core/cardinality.hpp>
#include <bloomery/hash.hpp>
#include <bloomery/result.hpp>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bloomery::sql {

/// The hashes of keys, 8 bytes each, with repetitions.
class collected_keys {
 public:
  void add(std::string_view key) { add(filter_hasher()(std::as_bytes(std::span(key)))); }
  void add(hash64 h) {
    hashes_.push_back(h);
    distinct_.add(h);
  }

  std::span<const hash64> hashes() const noexcept { return hashes_; }

  /// The filter of the keys, planned for their number. Fails as plans do, and with unsupported for
  /// a rate that takes 128-bit hashes.
  result<any_filter> build(std::string_view kind, double fpr) const;

 private:
  /// As the command line's key_spool::distinct_keys().
  std::uint64_t distinct_keys() const;

  std::vector<hash64> hashes_;
  detail::cardinality_estimator distinct_;
};

}  // namespace bloomery::sql
