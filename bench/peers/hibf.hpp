#pragma once

#include <bloomset/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace bench {

/// An index of files by others, for the mode `which`.
class index_peer {
 public:
  index_peer() = default;
  index_peer(const index_peer&) = delete;
  index_peer& operator=(const index_peer&) = delete;
  virtual ~index_peer() = default;

  virtual std::uint64_t bytes() const = 0;
  /// How many of these keys are given a file. Not safe with other calls at the same time.
  virtual std::size_t count_named(std::span<const bloomset::hash64>) = 0;
};

/// `rate_of_file` is the rate at which a file is named falsely, `hashes` from 1 to 5.
std::unique_ptr<index_peer> make_hibf(
    const std::vector<std::vector<bloomset::hash64>>& keys_of_file, double rate_of_file,
    std::size_t hashes);

}  // namespace bench
