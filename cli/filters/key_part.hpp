#pragma once

// One of several parts of a set of keys, for builds on several machines.

#include <bloomset/hash.hpp>
#include <bloomset/image.hpp>
#include <bloomset/result.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "filters/hashing.hpp"

namespace bloomset::cli {

/// "1-3, 7 of 8": the parts that a filter has, or lacks.
std::string list_parts(const key_parts& parts, bool has);

/// Adds the parts of another filter; one of all keys adds none. Fails with incompatible if a part
/// is there already, or is one of another number of parts.
result<void> add_parts(key_parts& sum, const key_parts& more);
/// Whether all parts are there, as in a filter of all keys.
bool lacks_none(const key_parts& parts) noexcept;

/// Part I of N: the keys with floor(hash * N / 2^64) = I - 1.
class key_part {
 public:
  /// Reads "2/8". An empty text means all keys. Fails with invalid_argument.
  static result<key_part> read(const std::string& text);

  bool is_all() const noexcept { return of_ == 1; }
  std::uint64_t kept() const noexcept { return kept_; }  ///< keys that select() returned
  std::string text() const;
  key_parts parts() const noexcept;  ///< of the filter with the part's keys

  /// The hashes of the part's keys, valid until the next call. The first list decides.
  hash_lists select(hash_lists all);

 private:
  std::uint64_t number_ = 1;
  std::uint64_t of_ = 1;
  std::uint64_t kept_ = 0;
  std::vector<std::vector<hash64>> selected_;
};

}  // namespace bloomset::cli
