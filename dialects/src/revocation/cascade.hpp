#pragma once

// A cascade of Bloom filters. The first layer holds the members, the second the non-members that
// pass the first, the third the members that pass the second, and so on, until no key passes
// wrongly: every key of the universe gets the right answer.

#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sha256.hpp"

namespace bloomset::dialects {

enum class cascade_hash : std::uint8_t { murmur3 = 1, sha256 = 2, sha256ctr = 3 };

struct cascade_layer {
  std::uint32_t bits = 0;
  std::uint32_t hashes = 0;
  std::span<const std::byte> data;
};

/// A cascade over the bytes of its file.
struct cascade {
  std::uint16_t version = 2;
  bool inverted = false;
  cascade_hash hash = cascade_hash::sha256;
  std::span<const std::byte> salt;
  std::vector<cascade_layer> layers;

  bool contains(std::span<const std::byte> key, sha256& hasher) const noexcept;
};

/// Fails with corrupt or unsupported. Allocates memory for the layers' descriptions only.
result<cascade> read_cascade(std::span<const std::byte> bytes);

/// The values of a cascade that is built.
struct cascade_plan {
  std::uint16_t version = 2;
  cascade_hash hash = cascade_hash::sha256;
  std::vector<std::byte> salt = {};
};

/// The bytes of the cascade of both sets, with rust_cascade's sizes of layers. If there are more
/// members than others, it holds the others and is inverted. Fails with full if 255 layers do not
/// separate the sets, and with invalid_argument if the version cannot store the cascade.
result<std::vector<std::byte>> build_cascade(const cascade_plan& plan,
                                             std::span<const std::string_view> members,
                                             std::span<const std::string_view> others);

}  // namespace bloomset::dialects
