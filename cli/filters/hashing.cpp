#include "filters/hashing.hpp"

#include <array>
#include <vector>

#include "input/blocks.hpp"

namespace bloomset::cli {
namespace {

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

}  // namespace

result<void> hash_all(key_input& input, std::span<const hash_seed> seeds,
                      const std::function<result<void>(hash_lists)>& use, unsigned threads) {
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
  const blank_lines is_blank = input.choice().is_blank;
  const block_steps steps = {
      .work = [&](unsigned slot, const key_block& block) -> reading {
        std::vector<std::vector<hash64>>& lists = of_slot[slot];
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
        if (auto used = use(of_slot[slot]); !used) return fail(std::move(used.error()));
        return true;
      },
  };
  return in_blocks(input, steps, threads);
}

}  // namespace bloomset::cli
