#pragma once

// From all inputs to hashes, by every core.

#include <bloomery/concepts.hpp>
#include <bloomery/result.hpp>
#include <cstdint>

#include "key_input.hpp"

namespace bloomery::cli {

/// Hashes every key of the input with XXH3 and that seed and gives the hashes to `use`, in the
/// order of the keys, one call at a time and some ten thousands a call, until it fails. The work of
/// in_blocks (blocks.hpp), by up to `threads` threads. Memory: a block and its hashes a thread,
/// some 10 MiB. Fails as the input or `use` does, or with out_of_memory.
result<void> hash_all(key_input& input, std::uint64_t seed, const hash_source::sink& use,
                      unsigned threads = 0);

}  // namespace bloomery::cli
