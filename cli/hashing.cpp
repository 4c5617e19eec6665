#include "hashing.hpp"

#include <vector>

#include "blocks.hpp"

namespace bloomery::cli {

result<void> hash_all(key_input& input, std::uint64_t seed, const hash_source::sink& use,
                      unsigned threads) {
  threads = threads_for_blocks(threads);
  const xxh3_hasher hash(seed);
  std::vector<std::vector<hash64>> of_slot(threads);
  std::vector<record_keys> readers;
  while (!input.choice().plain() && readers.size() < threads) {
    auto reader = record_keys::make(input.choice());
    if (!reader) return fail(std::move(reader.error()));
    readers.push_back(std::move(*reader));
  }
  std::vector<std::vector<std::string_view>> lines_of_slot(threads);
  const block_steps steps = {
      .work = [&](unsigned slot, const key_block& block) -> reading {
        std::vector<hash64>& hashes = of_slot[slot];
        hashes.clear();
        if (readers.empty()) {  // the fast path: no views of lines are kept
          for_each_line(block.bytes, input.format(), [&](std::string_view line) {
            hashes.push_back(hash(std::as_bytes(std::span(line))));
          });
          return {.lines = hashes.size(), .keys = hashes.size(), .wrong = {}};
        }
        return for_each_batch(block, input, &readers[slot], lines_of_slot[slot],
                              [&](const key_batch& batch) {
                                for (const std::string_view key : batch.keys) {
                                  hashes.push_back(hash(std::as_bytes(std::span(key))));
                                }
                              });
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
