#pragma once

/// A filter in stored form: its kind, its parameters and its bytes. Filters make images and are
/// opened from them. The file format (file.hpp) adds a header and checksums.

#include <array>
#include <bloomset/detail/core/byte_interval.hpp>
#include <bloomset/exceptions.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/labels.hpp>
#include <bloomset/layers.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace bloomset {

/// Numbers of the kinds in files. A number never changes its meaning. The registry has a row for
/// each.
enum class filter_kind : std::uint16_t {
  bloom = 1,
  counting_bloom = 2,
  scalable_bloom = 3,
  cuckoo = 4,
  blocked_bloom = 5,
  fuse = 6,
  ribbon = 7,
  vector_quotient = 8,
  expandable = 9,
  exact = 10,
  file_index = 11,  ///< no filter: has no row in the registry (file_index.hpp)
};

/// The parts of a set of keys that a filter has, of which `bloomset build --part` makes one. Part i
/// of n has the keys with floor(hash * n / 2^64) = i - 1. A filter that lacks parts answers "no"
/// for their keys, so only `bloomset merge` opens its file.
struct key_parts {
  static constexpr std::uint64_t max_of = 256;

  std::uint64_t of = 0;                ///< n; 0 for a filter of all keys
  std::array<std::uint64_t, 4> has{};  ///< bit i - 1 tells whether part i is in the filter

  /// Whether the filter has part `part`, 1 to `of`.
  bool contains(std::uint64_t part) const noexcept {
    return (has[(part - 1) / 64] >> (part - 1) % 64 & 1) != 0;
  }
  /// Counts part `part`, 1 to `of`, among those that the filter has.
  void add(std::uint64_t part) noexcept {
    has[(part - 1) / 64] |= std::uint64_t{1} << (part - 1) % 64;
  }
  bool operator==(const key_parts&) const = default;
};

/// The properties that every stored filter has.
struct filter_header {
  filter_kind kind;
  std::uint16_t kind_version;  ///< version of the kind's parameters and payload
  hash_id hash;
  hash_seed seed;
  std::uint64_t count;  ///< keys inserted, as the filter counted them
  key_parts parts = {};
  label_list labels = {};
  exception_list exceptions = {};  ///< any_filter applies them
  layer_list layers = {};          ///< any_filter applies them
};

/// A filter that is ready to be written. The payload refers to the bytes of the filter.
struct filter_image {
  filter_header header;
  std::vector<std::byte> parameters;                ///< of the kind, a multiple of 64 bytes
  std::vector<std::span<const std::byte>> payload;  ///< written one after the other
};

namespace detail {

/// Whether files with this hash function need a secret key.
constexpr bool is_keyed(hash_id hash) noexcept {
  return hash == hash_id::siphash_1_3 || hash == hash_id::siphash_2x64 ||
         hash == hash_id::siphash_partitioned;
}
/// Whether filters with this hash function have two halves.
constexpr bool has_halves(hash_id hash) noexcept {
  return hash == hash_id::xxh3_2x64 || hash == hash_id::siphash_2x64;
}

template <class Filter>
filter_image image_of(const Filter& filter, const hash_seed& seed,
                      std::vector<std::span<const std::byte>> payload) {
  return {{Filter::kind, Filter::kind_version, filter.hash_function().id(), seed, filter.size()},
          filter.params().encode(),
          std::move(payload)};
}

}  // namespace detail
}  // namespace bloomset
