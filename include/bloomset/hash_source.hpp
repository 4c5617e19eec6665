#pragma once

/// The hashes that a static kind is built from.

#include <bloomset/hash.hpp>
#include <bloomset/result.hpp>
#include <cstdint>
#include <functional>
#include <span>

namespace bloomset {

/// Any number of hashes, possibly with repetitions, that can be read more than once: a span in
/// memory, or a file. An entry is a hash, or a hash with what belongs to it.
template <class Entry>
struct basic_hash_source {
  using sink = std::function<result<void>(std::span<const Entry>)>;

  std::uint64_t size = 0;  ///< all hashes, repetitions included
  /// Passes all hashes to `use`, many at a time and in the same order on each call, until `use`
  /// fails. Returns that failure, or its own.
  std::function<result<void>(const sink& use)> for_each;
  /// Optional, for a source that is grouped by the first 8 bits of the hashes: passes those whose
  /// first 8 bits are `part`. A build then needs less memory, and reads the source nearly once.
  std::function<result<void>(unsigned part, const sink& use)> for_each_in_part = nullptr;
  /// Optional, for a build that can be cancelled, for example because its statement was: called
  /// often, always from the calling thread. If it fails, the build ends with this failure.
  std::function<result<void>()> check_cancelled = nullptr;

  /// The hashes of a span, which must outlive the source.
  static basic_hash_source of(std::span<const Entry> hashes) {
    return {hashes.size(), [hashes](const sink& use) { return use(hashes); }};
  }
};

/// Static kinds are built from one source of hashes.
using hash_source = basic_hash_source<hash64>;

}  // namespace bloomset
