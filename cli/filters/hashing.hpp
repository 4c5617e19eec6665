#pragma once

// Hashes all keys of an input on all cores.

#include <bloomset/concepts.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/result.hpp>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "input/key_input.hpp"

namespace bloomset::cli {

/// The hashes of a batch of keys, one list per seed.
using hash_lists = std::span<const std::vector<hash64>>;

/// Hashes every key of the input with each of those seeds or secret keys. Calls `use` with the
/// hashes in the order of the keys, one call at a time, with some ten thousands per call. Runs in
/// up to `threads` threads (see in_blocks). Memory: a block and its hashes per thread, about 10
/// MiB. Fails as the input or `use` does, or with out_of_memory.
result<void> hash_all(key_input& input, std::span<const hash_seed> seeds,
                      const std::function<result<void>(hash_lists)>& use, unsigned threads = 0);

}  // namespace bloomset::cli
