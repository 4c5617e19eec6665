#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>

#include "keys.hpp"
#include "signals.hpp"

namespace bloomset::python {

/// The work on a batch, in turns. In the main thread a turn ends after 50 ms, so that the handlers
/// of signals run between turns, without a filter's lock. In other threads one turn does it all.
///
///     for (batch_turns turns(batch); turns.next();) f.read([&](auto& filter) { ask(filter, turns);
///     });
class batch_turns {
 public:
  explicit batch_turns(key_batch& keys) : keys_(keys), ends_(is_main_thread()) {}

  /// Begins a turn, after the handlers of signals that arrived in the last one. False at the end of
  /// the batch. Needs the GIL.
  bool next(std::size_t most = std::numeric_limits<std::size_t>::max()) {
    if (first_ != 0) run_signal_handlers();
    last_ = first_ + std::min(most, keys_.size() - first_);
    end_ = std::chrono::steady_clock::now() + time_between_signals;
    return first_ < keys_.size();
  }

  // Within a turn, without the GIL:

  key_batch& keys() const noexcept { return keys_; }
  std::size_t first() const noexcept { return first_; }
  /// The keys that the turn may still work on, if it is not over.
  std::size_t left() const noexcept { return last_ - first_; }
  bool is_late() const noexcept { return ends_ && std::chrono::steady_clock::now() >= end_; }
  bool is_over() const noexcept { return left() == 0 || is_late(); }
  void advance(std::size_t n) noexcept { first_ += n; }

 private:
  key_batch& keys_;
  bool ends_;
  std::size_t first_ = 0;
  std::size_t last_ = 0;
  std::chrono::steady_clock::time_point end_;
};

}  // namespace bloomset::python
