#pragma once

/// A filter as it is stored: what kind it is, its parameters and its bytes. Filters make images and
/// are opened from them; the file format (file.hpp) gives an image a header and checksums.

#include <bloomery/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomery {

/// Names a kind of filter in files. Never renumbered; the registry has a row for each.
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
};

/// What every stored filter says of itself.
struct filter_header {
  filter_kind kind;
  std::uint16_t kind_version;  ///< of the kind's parameters and payload
  hash_id hash;
  std::uint64_t seed;
  std::uint64_t count;  ///< keys inserted, as the filter counted them
};

/// A filter ready to be written. The payload refers to the filter's own bytes.
struct filter_image {
  filter_header header;
  std::vector<std::byte> parameters;                ///< a multiple of 64 bytes
  std::vector<std::span<const std::byte>> payload;  ///< written one after the other
};

}  // namespace bloomery
