#include "hashing.hpp"

#include <array>
#include <vector>

#include "blocks.hpp"

namespace bloomery::cli {
namespace {

/// Appends the hashes of keys, which it hashes in batches.
class hash_batches {
 public:
  hash_batches(const filter_hasher& hash, std::vector<hash64>& to) : hash_(hash), to_(to) {}

  void add(std::string_view key) {
    if (size_ == keys_.size()) flush();
    keys_[size_++] = std::as_bytes(std::span(key));
  }
  void flush() {
    to_.resize(to_.size() + size_);
    hash_({keys_.data(), size_}, to_.data() + to_.size() - size_);
    size_ = 0;
  }

 private:
  const filter_hasher& hash_;
  std::vector<hash64>& to_;
  std::array<std::span<const std::byte>, 128> keys_;
  std::size_t size_ = 0;
};

}  // namespace

result<void> hash_all(key_input& input, const hash_seed& seed, const hash_source::sink& use,
                      unsigned threads) {
  threads = threads_for_blocks(threads);
  const filter_hasher hash(seed);
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
        hash_batches batches(hash, hashes);
        if (readers.empty()) {  // the fast path: no views of lines are kept
          for_each_line(block.bytes, input.format(),
                        [&](std::string_view line) { batches.add(line); });
          batches.flush();
          return {.lines = hashes.size(), .keys = hashes.size(), .wrong = {}};
        }
        return for_each_batch(block, input, &readers[slot], lines_of_slot[slot],
                              [&](const key_batch& batch) {
                                for (const std::string_view key : batch.keys) batches.add(key);
                                batches.flush();
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
