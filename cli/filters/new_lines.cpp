#include "filters/new_lines.hpp"

#include <algorithm>
#include <bloomset/detail/core/bits.hpp>
#include <bloomset/detail/core/source_memory.hpp>
#include <bloomset/detail/core/threads.hpp>
#include <cstring>
#include <new>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "filters/filling.hpp"
#include "filters/hashing.hpp"
#include "input/blocks.hpp"

namespace bloomset::cli {
namespace {

// A key_reader's memory fits into a block.
constexpr std::size_t line_block_bytes = key_reader::default_block + 4096;
// Of a round. Filters beyond the cache are faster if a round has many keys for each of their lines.
constexpr std::size_t min_blocks = 16;
constexpr std::size_t max_blocks = 64;
// A block of empty lines has this much text, hashes and answers.
constexpr std::size_t max_bytes_of_block = 11 * line_block_bytes;
/// Bits that do not depend on those by which a filter places keys.
std::uint8_t part_of(hash64 h, unsigned parts) noexcept {
  return static_cast<std::uint8_t>((detail::remix64(h.value) >> 32) * parts >> 32);
}

}  // namespace

struct new_lines::line_block {
  line_memory memory{line_block_bytes};
  result<key_block> block;
  reading read;
  std::vector<std::uint32_t> ends;     // as in key_batch
  std::vector<std::uint32_t> skipped;  // as in key_batch
  std::vector<std::uint8_t> part_of_key;
  // The hashes of part p are [begin[p], begin[p + 1]), in the order of their keys. Those below
  // done[p] have an answer.
  std::vector<hash64> hashes;
  flags is_new;
  std::array<std::uint32_t, parts + 1> begin;
  std::array<std::uint32_t, parts> done;
  // Of choose():
  std::uint64_t chosen = 0;
  std::size_t chosen_bytes = 0;                                     // in front
  std::optional<std::pair<std::uint64_t, insert_outcome>> refused;  // a line, and the reason

  std::span<char> text() noexcept {
    return {memory.data() + (block->bytes.data() - memory.data()), block->bytes.size()};
  }

  /// Calls `use(first, last, is_chosen)` for the bytes of each line that was read and is not wrong,
  /// and `see(i)` for each key, whose answer is is_new[i]. Stops at a key without an answer, and
  /// returns the number of its line and its part.
  template <class See, class Use>
  std::optional<std::pair<std::uint64_t, unsigned>> for_each_line(char end, See&& see, Use&& use) {
    std::array<std::uint32_t, parts> next;
    std::copy_n(begin.begin(), parts, next.begin());
    const bool* const answers = is_new.data();
    char* first = text().data();
    char* const limit = first + text().size();
    auto wrong = skipped.begin();
    std::size_t key = 0;
    for (std::uint64_t line = 0; line < read.lines; ++line) {
      auto* const last =
          static_cast<char*>(std::memchr(first, end, static_cast<std::size_t>(limit - first))) + 1;
      const std::size_t keys_end = ends.empty() ? line + 1 : ends[line];
      bool is_chosen = key == keys_end;
      for (; key < keys_end; ++key) {
        const unsigned part = part_of_key[key];
        const std::uint32_t i = next[part]++;
        if (i >= done[part]) return std::pair(line, part);
        is_chosen |= answers[i];
        see(i);
      }
      if (wrong != skipped.end() && *wrong == line) {
        ++wrong;
      } else {
        use(first, last, is_chosen);
      }
      first = last;
    }
    return std::nullopt;
  }
};

result<std::unique_ptr<new_lines>> new_lines::make(key_input& input, plan_request request,
                                                   const memory_limit& memory, output& out,
                                                   unsigned threads) {
  const auto growing =
      std::ranges::find_if(kinds(), [](const kind_info& row) { return row.can.grow; });
  request.capacity = (request.capacity + parts - 1) / parts;
  std::vector<any_filter> filters;
  while (filters.size() < parts) {
    auto filter = growing->create(request);
    if (!filter) return fail(std::move(filter.error()));
    filters.push_back(std::move(*filter));
  }
  std::unique_ptr<new_lines> made(
      new new_lines(input, std::move(filters), request.seed, memory, out, threads));
  while (!input.choice().unread() && made->readers_.size() < made->threads_) {
    auto reader = record_keys::make(input.choice());
    if (!reader) return fail(std::move(reader.error()));
    made->readers_.push_back(std::move(*reader));
  }
  return made;
}

new_lines::new_lines(key_input& input, std::vector<any_filter> filters, const hash_seed& seed,
                     const memory_limit& memory, output& out, unsigned threads)
    : input_(input),
      filters_(std::move(filters)),
      hash_(seed),
      memory_(memory),
      out_(out),
      threads_(threads_for_blocks(threads)),
      is_pipe_(!input.total_bytes()),
      hashes_(threads_),
      lost_(1024 / parts) {
  const auto blocks = std::clamp<std::uint64_t>(memory.for_waiting() / max_bytes_of_block, 1,
                                                std::uint64_t{max_blocks});
  while (blocks_.size() < blocks) blocks_.push_back(std::make_unique<line_block>());
}

std::size_t new_lines::blocks_of_round() const noexcept {
  const std::size_t half_of_filters = size_in_bytes() / (2 * line_block_bytes);
  return std::min(blocks_.size(), std::max(min_blocks, half_of_filters));
}

new_lines::~new_lines() = default;

std::uint64_t new_lines::size_in_bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const any_filter& filter : filters_) sum += filter.size_in_bytes();
  return sum;
}

result<void> new_lines::print(const std::function<void(const std::string& folder)>& notice) try {
  pass_blocks(false, true);
  while (filled_ != 0 && !failure_) {
    if (!later_ && !memory_.fits(size_in_bytes())) {
      auto made = deferred_lines::make(memory_.for_waiting(), input_.format().end);
      if (!made) return fail(std::move(made.error()));
      later_.emplace(std::move(*made));
      notice(later_->folder());
    }
    insert_round();
    for (std::optional<failure>& one : failures_) {
      if (one) return fail(std::move(*one));
    }
    // A line that is longer than a block is in memory alone, and lines of a pipe are printed before
    // further ones are waited for.
    line_block& last = *blocks_[filled_ - 1];
    if (!is_pipe_ && !ended_ && !last.memory.has_grown()) {
      pass_blocks(true, true);
      continue;
    }
    pass_blocks(true, false);
    last.memory.reset();
    if (failure_) break;
    if (is_pipe_ && !ended_ && input_.would_wait()) {
      if (auto ok = out_.flush(); !ok) return ok;
    }
    if (!ended_) pass_blocks(false, true);
  }
  if (failure_) return fail(std::move(*failure_));
  lost_.read_rate(filters_.front().current_fpr());
  const auto all = std::accumulate(inserted_.begin(), inserted_.end(), std::uint64_t{0});
  lost_.scale(all);
  return {};
} catch (const std::bad_alloc&) {
  return detail::no_memory("there is not enough memory for a block of the input");
}

result<void> new_lines::print_waiting() {
  if (!later_) return {};
  filters_.clear();  // their memory is needed
  if (auto ok = later_->choose_new(); !ok) return ok;
  lost_.add_later(later_->chosen());
  printed_ += later_->chosen();
  return later_->print(out_);
}

/// Prints the blocks of this round, or reads those of the next one, or both, block by block.
void new_lines::pass_blocks(bool prints, bool reads) {
  read_ = 0;
  round_ends_ = false;
  reading_.reset();
  printing_.reset();
  const std::size_t blocks = reads ? std::max(filled_, blocks_of_round()) : filled_;
  // A pipe may not have more than one block at a time.
  const std::size_t expected =
      !reads || is_pipe_
          ? std::max<std::size_t>(filled_, 1)
          : std::max<std::size_t>(filled_, *input_.total_bytes() / line_block_bytes + 1);
  const auto threads = static_cast<unsigned>(
      reads && input_.in_order() ? 1 : std::min<std::size_t>(expected, threads_));
  std::atomic<std::size_t> next{0};
  detail::in_threads(threads, [&](unsigned thread) {
    try {
      for (std::size_t i = next++; i < blocks; i = next++) {
        line_block& block = *blocks_[i];
        if (prints && i < filled_) {
          if (!later_) choose(block);
          printing_.pass(i, [&] { hand_on(block); });
        }
        if (!reads) continue;
        bool is_read = false;
        reading_.pass(i, [&] {
          if (round_ends_) return;
          read_block(i);
          is_read = true;
        });
        if (is_read && block.block) hash_block(block, thread);
      }
    } catch (...) {
      printing_.stop();
      reading_.stop();
      throw;
    }
  });
  filled_ = read_;
}

void new_lines::read_block(std::size_t number) {
  if (ended_ || (is_pipe_ && number != 0 && input_.would_wait())) {
    round_ends_ = true;
    return;
  }
  line_block& into = *blocks_[number];
  into.block = input_.next_block(into.memory, !is_pipe_);
  read_ = number + 1;
  ended_ = !into.block || into.block->bytes.empty() || into.block->broken;
  round_ends_ = ended_ || into.memory.has_grown();
}

void new_lines::hash_block(line_block& block, unsigned thread) {
  std::vector<hash64>& hashes = hashes_[thread];
  hashes.clear();
  hash_batches batches({&hash_, 1}, {&hashes, 1});
  block.read = {};
  block.ends.clear();
  block.skipped.clear();
  if (readers_.empty()) {
    const blank_lines is_blank = input_.choice().is_blank;
    for_each_line(block.block->bytes, input_.format(), [&](std::string_view line) {
      ++block.read.lines;
      block.read.crs += ends_in_cr(line) ? 1 : 0;
      const bool has_key = !is_blank(line);
      if (has_key) batches.add(line);
      block.read.keys += has_key ? 1 : 0;
      if (is_blank.comments) block.ends.push_back(static_cast<std::uint32_t>(block.read.keys));
    });
    block.read.key_per_line = block.read.keys == block.read.lines;
    batches.flush();
  } else {
    record_keys& reader = readers_[thread];
    reader.clear();
    reader.begin_file(block.block->file, input_.path(block.block->file));
    for_each_line(block.block->bytes, input_.format(), [&](std::string_view line) {
      if (!block.read.stopped) (void)reader.read(line, block.read);
    });
    const key_batch batch = reader.batch();
    for (const std::string_view key : batch.keys) batches.add(key);
    batches.flush();
    block.ends.assign(batch.ends.begin(), batch.ends.end());
    block.skipped.assign(batch.skipped.begin(), batch.skipped.end());
  }
  group(block, hashes);
}

/// Groups the hashes of a block by their parts.
void new_lines::group(line_block& block, const std::vector<hash64>& hashes) {
  block.part_of_key.resize(hashes.size());
  block.hashes.resize(hashes.size());
  (void)block.is_new.first(hashes.size());
  block.begin.fill(0);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const std::uint8_t part = part_of(hashes[i], parts);
    block.part_of_key[i] = part;
    ++block.begin[part + 1];
  }
  std::partial_sum(block.begin.begin(), block.begin.end(), block.begin.begin());
  std::copy_n(block.begin.begin(), parts, block.done.begin());
  auto next = block.done;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    block.hashes[next[block.part_of_key[i]]++] = hashes[i];
  }
}

void new_lines::insert_round() {
  const auto threads = static_cast<unsigned>(std::min<std::size_t>(filled_, threads_));
  std::atomic<unsigned> next{0};
  detail::in_threads(threads, [&](unsigned) {
    for (unsigned part = next++; part < parts; part = next++) {
      if (auto ok = insert_part(part); !ok) failures_[part] = std::move(ok.error());
    }
  });
}

/// Finds out which keys of a part are new, and inserts these in their order, up to the first that
/// is refused. Each answer is that of a call for the key alone, so it does not depend on where
/// blocks end. Once lines wait, the filter does not change.
result<void> new_lines::insert_part(unsigned part) {
  any_filter& filter = filters_[part];
  for (std::size_t b = 0; b < filled_ && blocks_[b]->block; ++b) {
    line_block& block = *blocks_[b];
    const std::size_t first = block.begin[part];
    const std::size_t n = block.begin[part + 1] - first;
    const std::span<const hash64> hashes(block.hashes.data() + first, n);
    const auto is_new = block.is_new.first(block.hashes.size()).subspan(first, n);
    if (later_) {
      if (auto ok = filter.may_contain(hashes, is_new); !ok) return ok;
      for (bool& one : is_new) one = !one;
      block.done[part] += static_cast<std::uint32_t>(n);
      continue;
    }
    const auto inserted = filter.insert_absent(hashes, is_new);
    if (!inserted) return fail(inserted.error());
    inserted_[part] += inserted->inserted;
    if (part == 0) lost_.add(filter, inserted->inserted);
    block.done[part] += static_cast<std::uint32_t>(inserted->done);
    if (inserted->done < n) {
      stopped_by_[part] = inserted->stopped_by;
      return {};
    }
  }
  return {};
}

/// Moves the new lines of a block to its front.
void new_lines::choose(line_block& block) const noexcept {
  block.chosen = 0;
  block.chosen_bytes = 0;
  block.refused.reset();
  if (!block.block || block.block->bytes.empty()) return;
  char* const text = block.text().data();
  char* to = text;
  char* first = text;  // [first, last) is chosen and not moved yet
  char* last = text;
  const auto move = [&] {
    const auto size = static_cast<std::size_t>(last - first);
    if (to != first) std::memmove(to, first, size);
    to += size;
  };
  const auto refused = block.for_each_line(
      input_.format().end, [](std::uint32_t) {},
      [&](char* line, char* line_end, bool is_chosen) {
        if (!is_chosen) return;
        ++block.chosen;
        if (line != last) {
          move();
          first = line;
        }
        last = line_end;
      });
  move();
  block.chosen_bytes = static_cast<std::size_t>(to - text);
  if (refused) block.refused.emplace(refused->first, stopped_by_[refused->second]);
}

/// Prints the new lines of a block, or lets them wait. The blocks come in their order.
void new_lines::hand_on(line_block& block) {
  if (failure_) return;
  if (!block.block) {
    failure_ = block.block.error();
    return;
  }
  const std::uint64_t lines = block.read.lines;
  const std::uint64_t wrong = block.skipped.size();
  const auto whole = input_.took(*block.block, std::move(block.read));
  block.read.lines = lines;
  lines_ += lines - wrong;
  if (auto ok = later_ ? defer(block) : write(block); !ok) {
    failure_ = std::move(ok.error());
  } else if (!whole) {
    failure_ = whole.error();
  }
}

result<void> new_lines::write(const line_block& block) {
  if (block.chosen_bytes != 0) {
    out_.append(std::string_view(block.block->bytes.data(), block.chosen_bytes));
    printed_ += block.chosen;
  }
  if (auto ok = out_.check(); !ok) return ok;
  if (!block.refused) return {};
  const auto [line, why] = *block.refused;
  key_batch batch;
  batch.first_line = input_.next_line() - block.read.lines;
  batch.file = block.block->file;
  return no_room(input_.position_of_line(batch, line), why, "give a larger --capacity");
}

result<void> new_lines::defer(line_block& block) {
  if (block.block->bytes.empty()) return {};
  result<void> kept;
  std::vector<hash64> hashes;  // of the new keys of a line
  (void)block.for_each_line(
      input_.format().end,
      [&](std::uint32_t i) {
        if (block.is_new.data()[i]) hashes.push_back(block.hashes[i]);
      },
      [&](const char* first, const char* last, bool is_chosen) {
        if (is_chosen && kept) {
          kept = later_->add({first, static_cast<std::size_t>(last - first - 1)}, hashes);
        }
        hashes.clear();
      });
  return kept;
}

}  // namespace bloomset::cli
