#pragma once

// Hashes all keys of an input on all cores.

#include <array>
#include <bloomset/concepts.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/partitioned_hash.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "input/key_input.hpp"

namespace bloomset::cli {

/// Appends the hashes of keys to the list of each hasher. It hashes keys in batches.
class hash_batches {
 public:
  hash_batches(std::span<const filter_hasher> hashers, std::span<std::vector<hash64>> to)
      : hashers_(hashers), to_(to) {}

  void add(std::string_view key) {
    if (size_ == keys_.size()) flush();
    keys_[size_++] = std::as_bytes(std::span(key));
  }
  void flush() {
    for (std::size_t i = 0; i < hashers_.size(); ++i) {
      to_[i].resize(to_[i].size() + size_);
      hashers_[i]({keys_.data(), size_}, to_[i].data() + to_[i].size() - size_);
    }
    size_ = 0;
  }

 private:
  std::span<const filter_hasher> hashers_;
  std::span<std::vector<hash64>> to_;
  std::array<std::span<const std::byte>, 128> keys_;
  std::size_t size_ = 0;
};

/// The hashes of a batch of keys, one list per seed.
using hash_lists = std::span<const std::vector<hash64>>;

/// Hashes every key of the input with each of those seeds or secret keys. Calls `use` with the
/// hashes in the order of the keys, one call at a time, with some ten thousands per call. Runs in
/// up to `threads` threads (see in_blocks). Memory: a block and its hashes per thread, about 10
/// MiB. Fails as the input or `use` does, or with out_of_memory.
result<void> hash_all(key_input& input, std::span<const hash_seed> seeds,
                      const std::function<result<void>(hash_lists)>& use, unsigned threads = 0);

/// The same for keys with partitions.
result<void> hash_partitions(
    key_input& input, const hash_seed& seed,
    const std::function<result<void>(std::span<const partitioned_hash>)>& use,
    unsigned threads = 0);

/// The same. Each call has hashes of keys of one file, whose number it gets.
result<void> hash_files(key_input& input, std::span<const hash_seed> seeds,
                        const std::function<result<void>(std::size_t file, hash_lists)>& use,
                        unsigned threads = 0);

}  // namespace bloomset::cli
