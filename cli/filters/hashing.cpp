#include "filters/hashing.hpp"

#include <vector>

#include "input/blocks.hpp"

namespace bloomset::cli {

result<void> hash_all(key_input& input, std::span<const hash_seed> seeds,
                      const std::function<result<void>(hash_lists)>& use, unsigned threads) {
  return hash_files(
      input, seeds, [&](std::size_t, hash_lists lists) { return use(lists); }, threads);
}

result<void> hash_partitions(
    key_input& input, const hash_seed& seed,
    const std::function<result<void>(std::span<const partitioned_hash>)>& use, unsigned threads) {
  threads = threads_for_blocks(threads);
  const partition_hasher hash(seed);
  std::vector<std::vector<partitioned_hash>> of_slot(threads);
  std::vector<record_keys> readers;
  while (readers.size() < threads) {
    auto reader = record_keys::make(input.choice());
    if (!reader) return fail(std::move(reader.error()));
    readers.push_back(std::move(*reader));
  }
  std::vector<std::vector<std::string_view>> lines_of_slot(threads);
  const block_steps steps = {
      .work = [&](unsigned slot, const key_block& block) -> reading {
        std::vector<partitioned_hash>& hashes = of_slot[slot];
        hashes.clear();
        return for_each_batch(block, input, &readers[slot], lines_of_slot[slot],
                              [&](const key_batch& batch) {
                                for (const std::string_view key : batch.keys) {
                                  hashes.push_back(hash(std::as_bytes(std::span(key))));
                                }
                              });
      },
      .hand_on = [&](unsigned slot) -> result<bool> {
        if (auto used = use(of_slot[slot]); !used) return fail(std::move(used.error()));
        return true;
      },
  };
  return in_blocks(input, steps, threads);
}

result<void> hash_files(key_input& input, std::span<const hash_seed> seeds,
                        const std::function<result<void>(std::size_t file, hash_lists)>& use,
                        unsigned threads) {
  threads = threads_for_blocks(threads);
  const std::vector<filter_hasher> hashers(seeds.begin(), seeds.end());
  std::vector<std::vector<std::vector<hash64>>> of_slot(
      threads, std::vector<std::vector<hash64>>(seeds.size()));
  std::vector<record_keys> readers;
  while (!input.choice().plain() && readers.size() < threads) {
    auto reader = record_keys::make(input.choice());
    if (!reader) return fail(std::move(reader.error()));
    readers.push_back(std::move(*reader));
  }
  std::vector<std::vector<std::string_view>> lines_of_slot(threads);
  std::vector<std::size_t> file_of_slot(threads);
  const blank_lines is_blank = input.choice().is_blank;
  const block_steps steps = {
      .work = [&](unsigned slot, const key_block& block) -> reading {
        std::vector<std::vector<hash64>>& lists = of_slot[slot];
        file_of_slot[slot] = block.file;
        for (std::vector<hash64>& hashes : lists) hashes.clear();
        hash_batches batches(hashers, lists);
        if (readers.empty()) {  // the fast path: no views of lines are kept
          reading read;
          for_each_line(block.bytes, input.format(), [&](std::string_view line) {
            ++read.lines;
            read.crs += ends_in_cr(line) ? 1 : 0;
            if (!is_blank(line)) batches.add(line);
          });
          batches.flush();
          read.keys = lists[0].size();
          read.key_per_line = read.keys == read.lines;
          return read;
        }
        return for_each_batch(block, input, &readers[slot], lines_of_slot[slot],
                              [&](const key_batch& batch) {
                                for (const std::string_view key : batch.keys) batches.add(key);
                                batches.flush();
                              });
      },
      .hand_on = [&](unsigned slot) -> result<bool> {
        if (of_slot[slot][0].empty()) return true;
        if (auto used = use(file_of_slot[slot], of_slot[slot]); !used)
          return fail(std::move(used.error()));
        return true;
      },
  };
  return in_blocks(input, steps, threads);
}

}  // namespace bloomset::cli
