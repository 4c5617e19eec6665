#pragma once

// Prints the lines of an input that have a new key, on all cores.

#include <array>
#include <atomic>
#include <bloomset/any_filter.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/result.hpp>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "filters/flags.hpp"
#include "filters/lost_lines.hpp"
#include "input/key_input.hpp"
#include "memory/deferred_lines.hpp"
#include "memory/memory_limit.hpp"
#include "terminal/output.hpp"

namespace bloomset::cli {

/// Threads pass one after the other, in the order of their numbers.
class turnstile {
 public:
  /// Begins with number 0 again.
  void reset() noexcept {
    next_ = 0;
    stopped_ = false;
  }
  /// Waits for the turn of `number`, calls `work` and ends the turn. Does nothing after stop().
  template <class Work>
  void pass(std::size_t number, Work&& work) {
    std::unique_lock turn(mutex_);
    turned_.wait(turn, [&] { return next_ == number || stopped_; });
    if (stopped_) return;
    work();
    ++next_;
    turned_.notify_all();
  }
  /// Lets all threads through. To be called if a number does not come.
  void stop() noexcept {
    const std::lock_guard turn(mutex_);
    stopped_ = true;
    turned_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable turned_;
  std::size_t next_ = 0;
  bool stopped_ = false;
};

/// Prints the lines that have a key which no line before them has, and lines without a key. The
/// keys are in growing filters, one for each part of the hashes, so that each thread inserts into
/// filters of its own.
///
/// The input is read in rounds of half the filters' size, but at least 16 MiB and at most 64 MiB.
/// The keys of a round are hashed block by block, then inserted part by part, and then the new
/// lines are printed in their order while the next round is read. So the output does not depend on
/// the number of threads.
///
/// Memory      The filters; and a round with 10 bytes per key, or a quarter of the limit.
///             If the filters do not fit the limit, further lines wait on disk (deferred_lines).
class new_lines {
 public:
  /// `request` has the rate, and the capacity at which the growth begins. `threads` 0: one per
  /// core, at most 8.
  static result<std::unique_ptr<new_lines>> make(key_input& input, plan_request request,
                                                 const memory_limit& memory, output& out,
                                                 unsigned threads = 0);
  new_lines(const new_lines&) = delete;
  new_lines& operator=(const new_lines&) = delete;
  ~new_lines();

  /// Prints the new lines of all input. From the memory limit on they wait, after a call of
  /// `notice` with the folder of the temporary files.
  result<void> print(const std::function<void(const std::string& folder)>& notice);
  /// Prints the lines that wait. To be called once, after print().
  result<void> print_waiting();

  /// Of the lines that were neither wrong nor printed.
  std::uint64_t dropped() const noexcept { return lines_ - printed_; }
  /// Complete after print_waiting().
  const lost_lines& lost() const noexcept { return lost_; }

 private:
  static constexpr unsigned parts = 64;

  /// Some lines, and what is known of their keys.
  struct line_block;

  new_lines(key_input& input, std::vector<any_filter> filters, const hash_seed& seed,
            const memory_limit& memory, output& out, unsigned threads);

  std::uint64_t size_in_bytes() const noexcept;
  std::size_t blocks_of_round() const noexcept;
  void pass_blocks(bool prints, bool reads);
  void read_block(std::size_t number);
  void hash_block(line_block& block, unsigned thread);
  static void group(line_block& block, const std::vector<hash64>& hashes);
  void insert_round();
  result<void> insert_part(unsigned part);
  void choose(line_block& block) const noexcept;
  void hand_on(line_block& block);
  result<void> write(const line_block& block);
  result<void> defer(line_block& block);

  key_input& input_;
  std::vector<any_filter> filters_;
  filter_hasher hash_;
  memory_limit memory_;
  output& out_;
  unsigned threads_;
  bool is_pipe_;
  std::vector<record_keys> readers_;                 // one per thread, unless lines are keys
  std::vector<std::vector<hash64>> hashes_;          // one list per thread, within a call
  std::vector<std::unique_ptr<line_block>> blocks_;  // of a round
  std::size_t filled_ = 0;                           // blocks of this round
  std::size_t read_ = 0;                             // blocks of the next one
  bool round_ends_ = false;                          // no further block is read into it
  bool ended_ = false;                               // the input has no more
  turnstile reading_;
  turnstile printing_;
  std::array<std::uint64_t, parts> inserted_{};
  std::array<insert_outcome, parts> stopped_by_{};
  std::array<std::optional<failure>, parts> failures_;
  std::optional<failure> failure_;
  std::optional<deferred_lines> later_;
  lost_lines lost_;
  std::uint64_t lines_ = 0;
  std::uint64_t printed_ = 0;
};

}  // namespace bloomset::cli
