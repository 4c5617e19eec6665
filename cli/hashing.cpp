#include "hashing.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

namespace bloomery::cli {
namespace {

constexpr unsigned most_threads = 8;  // reading is one after the other, and then sets the pace
constexpr std::size_t block_bytes = std::size_t{2} << 20;

class hashing {
 public:
  hashing(key_input& input, std::uint64_t seed, const hash_source::sink& use)
      : input_(input), hash_(seed), use_(use) {}

  /// What each thread does until the input ends or something fails.
  void work() noexcept {
    try {
      std::vector<char> memory(block_bytes);
      std::vector<hash64> hashes;
      for (bool more = true; more;) {
        const auto [number, block] = next(memory);
        if (block) hash(block->bytes, hashes);
        more = hand_on(number, block, hashes);
      }
    } catch (const std::bad_alloc&) {
      stop({errc::out_of_memory, "there is no memory for a block of the input"});
    }
  }

  result<void> outcome() && {
    if (failure_) return fail(std::move(*failure_));
    return {};
  }

 private:
  std::pair<std::uint64_t, result<key_block>> next(std::vector<char>& memory) {
    const std::lock_guard reading(reading_);
    return {next_++, input_.next_block(memory)};
  }

  void hash(std::span<const char> bytes, std::vector<hash64>& hashes) const {
    const key_format format = input_.format();
    hashes.clear();
    const char* at = bytes.data();
    const char* const end = at + bytes.size();
    while (at != end) {
      // A block is whole keys, so the search succeeds.
      const auto* const key_end =
          static_cast<const char*>(std::memchr(at, format.end, static_cast<std::size_t>(end - at)));
      auto length = static_cast<std::size_t>(key_end - at);
      if (format.strip_cr && length != 0 && at[length - 1] == '\r') --length;
      hashes.push_back(hash_(std::as_bytes(std::span(at, length))));
      at = key_end + 1;
    }
  }

  /// Waits until the blocks before this one were handed on; whether there is more to do.
  bool hand_on(std::uint64_t number, const result<key_block>& block,
               std::span<const hash64> hashes) {
    std::unique_lock turn(turn_);
    turned_.wait(turn, [&] { return handed_on_ == number || failure_; });
    if (failure_) return false;
    if (!block) {
      failure_ = block.error();
    } else if (auto ok = input_.took(*block, hashes.size()); !ok) {
      failure_ = std::move(ok.error());
    } else if (!hashes.empty()) {
      if (auto used = use_(hashes); !used) failure_ = std::move(used.error());
    }
    ++handed_on_;
    turned_.notify_all();
    return !failure_ && !block->bytes.empty();
  }

  void stop(failure why) noexcept {
    const std::lock_guard turn(turn_);
    if (!failure_) failure_ = std::move(why);
    turned_.notify_all();
  }

  key_input& input_;
  const xxh3_hasher hash_;
  const hash_source::sink& use_;
  std::mutex reading_;
  std::uint64_t next_ = 0;
  std::mutex turn_;
  std::condition_variable turned_;
  std::uint64_t handed_on_ = 0;
  std::optional<failure> failure_;
};

}  // namespace

result<void> hash_all(key_input& input, std::uint64_t seed, const hash_source::sink& use,
                      unsigned threads) {
  if (threads == 0) threads = std::clamp(std::thread::hardware_concurrency(), 1U, most_threads);
  hashing all(input, seed, use);
  {
    std::vector<std::jthread> helpers;
    try {
      for (unsigned t = 1; t < threads; ++t) helpers.emplace_back([&all] { all.work(); });
    } catch (const std::exception&) {
      helpers.clear();  // no thread to be had: those that run finish the work, or this one does
    }
    all.work();
  }
  return std::move(all).outcome();
}

}  // namespace bloomery::cli
