#include "hashing.hpp"

#include <vector>

#include "blocks.hpp"

namespace bloomery::cli {

result<void> hash_all(key_input& input, std::uint64_t seed, const hash_source::sink& use,
                      unsigned threads) {
  threads = threads_for_blocks(threads);
  const xxh3_hasher hash(seed);
  std::vector<std::vector<hash64>> of_slot(threads);
  const block_steps steps = {
      .work = [&](unsigned slot, std::span<const char> bytes) -> std::uint64_t {
        std::vector<hash64>& hashes = of_slot[slot];
        hashes.clear();
        for_each_key(bytes, input.format(), [&](std::string_view key) {
          hashes.push_back(hash(std::as_bytes(std::span(key))));
        });
        return hashes.size();
      },
      .hand_on = [&](unsigned slot) -> result<bool> {
        if (of_slot[slot].empty()) return true;
        if (auto used = use(of_slot[slot]); !used) return fail(std::move(used.error()));
        return true;
      },
  };
  return in_blocks(input, steps, threads);
}

}  // namespace bloomery::cli
