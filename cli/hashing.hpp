#pragma once

// Hashes all keys of an input on all cores.

#include <bloomery/concepts.hpp>
#include <bloomery/hash_source.hpp>
#include <bloomery/result.hpp>
#include <cstdint>

#include "key_input.hpp"

namespace bloomery::cli {

/// Hashes every key of the input with that seed or secret key. Calls `use` with the hashes in the
/// order of the keys, one call at a time, with some ten thousands per call. Runs in up to `threads`
/// threads (see in_blocks). Memory: a block and its hashes per thread, about 10 MiB. Fails as the
/// input or `use` does, or with out_of_memory.
result<void> hash_all(key_input& input, const hash_seed& seed, const hash_source::sink& use,
                      unsigned threads = 0);

}  // namespace bloomery::cli
