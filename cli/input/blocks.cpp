#include "input/blocks.hpp"

#include <algorithm>
#include <array>
#include <bloomset/detail/core/source_memory.hpp>
#include <condition_variable>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "memory/wiped.hpp"

namespace bloomset::cli {
namespace {

constexpr unsigned max_threads = 8;
constexpr std::size_t block_bytes = std::size_t{2} << 20;

class block_line {
 public:
  block_line(key_input& input, const block_steps& steps) : input_(input), steps_(steps) {}

  /// The loop of each thread, until the input ends, a step ends the work or something fails.
  void run(unsigned slot) noexcept {
    try {
      line_memory memory(block_bytes);
      for (bool more = true; more;) {
        std::unique_lock turn_to_read(reading_);
        const std::uint64_t number = next_++;
        const auto block = input_.next_block(memory);
        // A line that is longer than a block has the memory for itself, so it keeps the lock.
        if (!memory.has_grown()) turn_to_read.unlock();
        reading read;
        if (block && !block->bytes.empty()) read = steps_.work(slot, *block);
        more = hand_on(slot, number, block, std::move(read));
        memory.reset();
      }
    } catch (const std::bad_alloc&) {
      stop(detail::no_memory("there is not enough memory for a block of the input"));
    }
  }

  result<void> outcome() && {
    if (failure_) return fail(std::move(*failure_));
    return {};
  }

 private:
  /// Waits until the blocks before this one are done. Returns whether there is more to do.
  bool hand_on(unsigned slot, std::uint64_t number, const result<key_block>& block, reading read) {
    std::unique_lock turn(turn_);
    turned_.wait(turn, [&] { return handed_on_ == number || ended_; });
    if (ended_) return false;
    if (auto more = take(slot, block, std::move(read)); !more) {
      failure_ = std::move(more.error());
      ended_ = true;
    } else {
      ended_ = !*more;
    }
    ++handed_on_;
    turned_.notify_all();
    return !ended_;
  }

  result<bool> take(unsigned slot, const result<key_block>& block, reading read) {
    if (!block) return fail(block.error());
    const auto whole = input_.took(*block, std::move(read));
    // The lines before a wrong line are handed on first, as with one thread.
    if (!block->bytes.empty()) {
      if (auto more = steps_.hand_on(slot); !more || !*more) return more;
    }
    if (!whole) return fail(whole.error());
    return !block->bytes.empty();
  }

  void stop(failure why) noexcept {
    const std::lock_guard turn(turn_);
    if (!ended_) failure_ = std::move(why);
    ended_ = true;
    turned_.notify_all();
  }

  key_input& input_;
  const block_steps& steps_;
  std::mutex reading_;
  std::uint64_t next_ = 0;
  std::mutex turn_;
  std::condition_variable turned_;
  std::uint64_t handed_on_ = 0;
  bool ended_ = false;
  std::optional<failure> failure_;
};

/// The lines of a block, and as its keys those that are not empty.
reading count_lines(std::span<const char> block, char end) noexcept {
  // Each lane counts in a byte, so that the compiler uses vector instructions.
  constexpr std::size_t lanes = 32;
  constexpr std::size_t max_count = 255;
  const char* const bytes = block.data();
  const std::size_t size = block.size();
  reading read;
  std::uint64_t empty = 0;
  if (size != 0 && bytes[0] == end) read.lines = empty = 1;
  std::size_t i = 1;
  while (i + lanes <= size) {
    std::array<std::uint8_t, lanes> ends{};
    std::array<std::uint8_t, lanes> pairs{};
    const std::size_t rounds = std::min(max_count, (size - i) / lanes);
    for (std::size_t round = 0; round < rounds; ++round, i += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const auto is_end = static_cast<std::uint8_t>(bytes[i + lane] == end);
        const auto follows_end = static_cast<std::uint8_t>(bytes[i + lane - 1] == end);
        ends[lane] = static_cast<std::uint8_t>(ends[lane] + is_end);
        pairs[lane] = static_cast<std::uint8_t>(pairs[lane] + (is_end & follows_end));
      }
    }
    read.lines += std::accumulate(ends.begin(), ends.end(), std::uint64_t{0});
    empty += std::accumulate(pairs.begin(), pairs.end(), std::uint64_t{0});
  }
  for (; i < size; ++i) {
    if (bytes[i] != end) continue;
    ++read.lines;
    empty += bytes[i - 1] == end ? 1 : 0;
  }
  read.keys = read.lines - empty;
  read.key_per_line = read.keys == read.lines;
  return read;
}

}  // namespace

unsigned threads_for_blocks(unsigned threads) noexcept {
  return threads != 0 ? threads : std::clamp(std::thread::hardware_concurrency(), 1U, max_threads);
}

result<void> in_blocks(key_input& input, const block_steps& steps, unsigned threads) {
  threads = input.in_order() ? 1 : threads_for_blocks(threads);
  block_line line(input, steps);
  {
    std::vector<std::jthread> helpers;
    try {
      for (unsigned slot = 1; slot < threads; ++slot) {
        helpers.emplace_back([&line, slot] {
          line.run(slot);
          wipe_stack();
        });
      }
    } catch (const std::exception&) {
      helpers.clear();  // no thread is available: the running ones, or this one, finish the work
    }
    line.run(0);
  }
  return std::move(line).outcome();
}

result<std::uint64_t> count_keys(key_input& input) {
  const key_choice& choice = input.choice();
  const bool by_ends = choice.unread() && !choice.is_blank.comments &&
                       !choice.is_blank.keep_empty && !input.format().strip_cr;
  std::vector<record_keys> readers;
  std::vector<std::vector<std::string_view>> lines_of_slot(threads_for_blocks(0));
  while (!choice.unread() && readers.size() < lines_of_slot.size()) {
    auto reader = record_keys::make(choice);
    if (!reader) return fail(std::move(reader.error()));
    readers.push_back(std::move(*reader));
  }
  const block_steps steps = {
      .work = [&](unsigned slot, const key_block& block) -> reading {
        if (!by_ends) {
          return for_each_batch(block, input, readers.empty() ? nullptr : &readers[slot],
                                lines_of_slot[slot], [](const key_batch&) {});
        }
        return count_lines(block.bytes, input.format().end);
      },
      .hand_on = [](unsigned) -> result<bool> { return true; },
  };
  if (auto ok = in_blocks(input, steps); !ok) return fail(std::move(ok.error()));
  return input.keys();
}

result<void> in_batches(key_input& input,
                        const std::function<result<void>(const key_batch& batch)>& use) {
  const bool is_large = input.total_bytes().value_or(0) >= min_bytes_for_threads;
  if (!is_large || input.choice().unread() || input.secret()) {
    for (;;) {
      const auto batch = input.next();
      if (!batch) return fail(batch.error());
      if (batch->lines.empty()) return {};
      if (auto ok = use(*batch); !ok) return ok;
    }
  }
  std::vector<record_keys> readers;
  std::vector<std::size_t> file_of_slot(threads_for_blocks(0));
  while (readers.size() < file_of_slot.size()) {
    auto reader = record_keys::make(input.choice());
    if (!reader) return fail(std::move(reader.error()));
    readers.push_back(std::move(*reader));
  }
  const block_steps steps = {
      .work = [&](unsigned slot, const key_block& block) -> reading {
        record_keys& reader = readers[slot];
        file_of_slot[slot] = block.file;
        reader.clear();
        reader.begin_file(block.file, input.path(block.file));
        reading read;
        for_each_line(block.bytes, input.format(), [&](std::string_view line) {
          if (!read.stopped) (void)reader.read(line, read);
        });
        return read;
      },
      .hand_on = [&](unsigned slot) -> result<bool> {
        key_batch batch = readers[slot].batch(0, file_of_slot[slot]);
        if (batch.lines.empty()) return true;
        batch.first_line = input.next_line() - batch.lines.size();
        if (auto ok = use(batch); !ok) return fail(std::move(ok.error()));
        return true;
      },
  };
  return in_blocks(input, steps);
}

}  // namespace bloomset::cli
