#pragma once

// What SQL engines share: a filter is a value with the bytes of a filter file.

#include <bloomset/any_filter.hpp>
#include <bloomset/defaults.hpp>
#include <bloomset/file.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomset::sql {

/// The number of keys is counted.
inline constexpr std::uint64_t counted = 0;

/// The hash of a key for a filter that build() makes.
inline hash64 hash_of(std::string_view key) {
  return filter_hasher()(std::as_bytes(std::span(key)));
}

/// Bounds of a build inside an SQL engine.
struct limits {
  std::uint64_t max_bytes;  ///< of a value
  /// Whether the statement was cancelled. Called after at most a few hundred thousand keys.
  std::function<bool()> is_cancelled = [] { return false; };
};

/// A capacity that a statement gives. Fails if it is not positive.
result<std::uint64_t> capacity_of(std::int64_t given);

/// Fails if the filter would be larger than a value.
result<void> check_size(std::uint64_t bytes, std::uint64_t max_bytes);

/// Fails if the filter that is planned for this capacity would be larger than a value. A statement
/// calls it before it reads its rows.
result<void> check_plan(const kind_info& kind, double fpr, std::uint64_t capacity,
                        std::uint64_t max_bytes);

/// The filter of keys that have these hashes, with repetitions. With `counted` it is planned for
/// their number as the command line plans it, so that both make the same file;
/// but a vector_quotient is planned here for all copies of a key, and there for at most
/// kind_info::copies_to_plan_for of them. Fails as plans do, with unsupported for a rate that
/// takes 128-bit hashes, and with full if the filter would be larger than a value, or if more keys
/// than the capacity raise the rate above twice `fpr`.
result<any_filter> build(const kind_info& kind, double fpr, std::span<const hash64> hashes,
                         std::uint64_t capacity, const limits& limits);

/// The filter in a value, which it refers to if it is read-only. Fails for filters with a secret
/// key, which has no place in a statement.
result<any_filter> open_value(std::span<const std::byte> value, access how,
                              verification verified = verification::always);

/// A filter with a copy of its bytes, for statements that query the same one again.
struct kept_filter {
  std::vector<std::byte> bytes;
  std::optional<any_filter> filter;  ///< none before open() has succeeded

  /// Whether the value has the same bytes. Compares all of them, because a damaged copy may differ
  /// in any.
  bool is(std::span<const std::byte> value) const;
  /// Keeps the filter in a value instead. Fails as open_value() does.
  result<void> open(std::span<const std::byte> value);
};

/// The union, which is in `all` afterwards. It has the same bytes in any order of the merges.
result<void> merge(any_filter& all, const any_filter& other);
result<void> merge_value(any_filter& all, std::span<const std::byte> value);

/// All figures of a value as JSON, with the names of `bloomset info --json`.
result<std::string> info_of_value(std::span<const std::byte> value);

}  // namespace bloomset::sql
