#pragma once

// Processes the blocks of an input on all cores, with results in the order of the blocks.

#include <bloomset/result.hpp>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "input/key_input.hpp"

namespace bloomset::cli {

/// Two steps per block of an input. Both run in the same thread, whose number is `slot`, so data
/// kept per slot needs no lock.
struct block_steps {
  /// Works on a block, concurrently with other threads.
  std::function<reading(unsigned slot, const key_block& block)> work;
  /// Receives the work's result: one call at a time, in the order of the blocks. Returning false
  /// ends the whole work.
  std::function<result<bool>(unsigned slot)> hand_on;
};

/// The number of threads of in_blocks. 0 means one per core, at most 8, because reading is
/// sequential and then is the bottleneck.
unsigned threads_for_blocks(unsigned threads) noexcept;

/// Runs both steps for every block of the input, in one thread if the reader needs the order.
/// Memory: one block per thread, of 2 MiB, and the data of the steps. A longer line is in memory
/// alone: no other block is read until it is done. Fails as the input or a step does, or with
/// out_of_memory.
result<void> in_blocks(key_input& input, const block_steps& steps, unsigned threads = 0);

/// Reads the whole input on all cores, and returns the number of its keys.
result<std::uint64_t> count_keys(key_input& input);

/// Inputs from this size on are worth several threads.
constexpr std::uint64_t min_bytes_for_threads = std::uint64_t{4} << 20;

/// Calls `use` for all lines and their keys, one call at a time and in their order. All cores read
/// the records of a large file, unless each line is a key as it is. Between the calls other threads
/// may read the input, so would_wait() may be called only if total_bytes() is empty. Fails as the
/// input or `use` does.
result<void> in_batches(key_input& input,
                        const std::function<result<void>(const key_batch& batch)>& use);

/// Calls `use(line)` for each line of a block.
template <class Use>
void for_each_line(std::span<const char> block, key_format format, Use&& use) {
  const char* at = block.data();
  const char* const end = at + block.size();
  while (at != end) {
    // A block is whole lines, so the search succeeds.
    const auto* const line_end =
        static_cast<const char*>(std::memchr(at, format.end, static_cast<std::size_t>(end - at)));
    auto length = static_cast<std::size_t>(line_end - at);
    if (format.strip_cr && length != 0 && at[length - 1] == '\r') --length;
    use(std::string_view(at, length));
    at = line_end + 1;
  }
}

/// Calls `use(batch)` for the lines of a block and their keys. Without a reader each line that is
/// not blank is a key. `lines` is scratch memory. Returns what was read, up to the first wrong
/// line.
template <class Use>
reading for_each_batch(const key_block& block, const key_input& input, record_keys* reader,
                       std::vector<std::string_view>& lines, Use&& use) {
  reading read;
  if (reader == nullptr) {
    plain_keys plain(input.choice().is_blank);
    const auto give = [&] {
      const key_batch batch = plain.batch(lines, 0);
      read.lines += lines.size();
      read.keys += batch.keys.size();
      read.key_per_line &= batch.ends.empty();
      use(batch);
      lines.clear();
    };
    for_each_line(block.bytes, input.format(), [&](std::string_view line) {
      read.crs += ends_in_cr(line) ? 1 : 0;
      lines.push_back(line);
      if (lines.size() == key_reader::max_keys) give();
    });
    if (!lines.empty()) give();
    return read;
  }
  reader->begin_file(block.file, input.path(block.file));
  const auto give = [&] {
    if (const key_batch batch = reader->batch(); !batch.lines.empty()) use(batch);
    reader->clear();
  };
  for_each_line(block.bytes, input.format(), [&](std::string_view line) {
    if (!read.stopped && reader->read(line, read) && read.lines % key_reader::max_keys == 0) give();
  });
  give();
  return read;
}

}  // namespace bloomset::cli
