#pragma once

// The blocks of an input by every core, and what came of them in order.

#include <bloomery/result.hpp>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>

#include "key_input.hpp"

namespace bloomery::cli {

/// Two steps for each block of an input. A `slot` below the number of threads stands for the thread
/// that does both, so that what is kept by slot between them needs no lock.
struct block_steps {
  /// Works on a block that no other thread has; says how many keys were in it.
  std::function<std::uint64_t(unsigned slot, std::span<const char> bytes)> work;
  /// Takes over what the work left, one call at a time and in the order of the blocks. False ends
  /// everything: the answer is known.
  std::function<result<bool>(unsigned slot)> hand_on;
};

/// How many threads in_blocks uses for `threads` (0: one a core, at most 8: reading is one after
/// the other, and then sets the pace).
unsigned threads_for_blocks(unsigned threads) noexcept;

/// Takes every block of the input through both steps: each of the threads takes a block in turn,
/// works on it, and waits for its turn to hand it on. Memory: a block a thread, 2 MiB or its one
/// key, beside what the steps keep. Fails as the input or a step does, or with out_of_memory.
result<void> in_blocks(key_input& input, const block_steps& steps, unsigned threads = 0);

/// Calls `use(key)` for each key of a block.
template <class Use>
void for_each_key(std::span<const char> block, key_format format, Use&& use) {
  const char* at = block.data();
  const char* const end = at + block.size();
  while (at != end) {
    // A block is whole keys, so the search succeeds.
    const auto* const key_end =
        static_cast<const char*>(std::memchr(at, format.end, static_cast<std::size_t>(end - at)));
    auto length = static_cast<std::size_t>(key_end - at);
    if (format.strip_cr && length != 0 && at[length - 1] == '\r') --length;
    use(std::string_view(at, length));
    at = key_end + 1;
  }
}

}  // namespace bloomery::cli
