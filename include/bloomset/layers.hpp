#pragma once

/// Keys that were added to a published filter, in small layers that travel alone. A filter and its
/// layers answer as one (any_filter). docs/reference/format.md is the normative layout.

#include <bloomset/hash.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace bloomset {

/// A layer as bytes: a list of the places of its keys' hashes, each one of n / fpr places.
///
/// Size      log2(1/fpr) + 1.54 bits per key and about 22 bytes: 13.7 bits for 1000 keys at 1/4096.
/// Rate      n / ceil(n / fpr), the share of all hashes that have a place of the list.
/// Base      The layer belongs to one file, which has the hash function of the keys: `base` is
///           layer_base_of() that file. If one of the keys is an exception of the file, end that
///           exception (any_filter::remove_exceptions), because exceptions hold for layers, too.
/// Failure   invalid_argument unless there are 1 to 2^40 hashes and fpr is from 1e-9 to 1/64.
result<std::vector<std::byte>> make_layer(const std::vector<hash64>& hashes, double fpr,
                                          std::uint64_t base);

/// The layers of a filter.
///
/// Query     One memory access for 15 of 16 keys that are not in a layer, however many layers there
///           are. O(log size) for others.
/// Memory    24 bytes per key, and the layers themselves.
/// Threads   Concurrent const calls are safe.
class layer_list {
 public:
  /// A file's header has 32 bits for the length of its layers and parameters.
  static constexpr std::uint64_t max_bytes = std::uint64_t{4000} << 20;

  bool empty() const noexcept { return layers_.empty(); }
  /// The number of keys in all layers, as each of them counts its own.
  std::uint64_t keys() const noexcept { return keys_; }
  /// The share of all hashes that contains() answers with yes.
  double fpr() const noexcept;
  /// Whether a key of this hash may be in a layer. False is certain.
  bool contains(hash64 h) const noexcept;

  /// The layers as they were given.
  const std::vector<std::vector<std::byte>>& all() const noexcept { return layers_; }
  /// Reads layers of the file of which `base` is the layer_base_of(). Fails with corrupt, with
  /// incompatible for a layer of another file, and with unsupported beyond max_bytes in all.
  static result<layer_list> of(std::vector<std::vector<std::byte>> layers, std::uint64_t base);

  bool operator==(const layer_list& other) const { return layers_ == other.layers_; }

 private:
  std::vector<std::vector<std::byte>> layers_;
  std::uint64_t keys_ = 0;
  // Ranges of hashes, ascending and apart, with their first and last hash.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges_;
  std::vector<std::uint64_t> cells_;  // a bit per cell, of all hashes with the same upper bits
  unsigned cell_shift_ = 63;
};

}  // namespace bloomset
