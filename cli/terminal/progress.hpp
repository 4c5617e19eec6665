#pragma once

// The progress line of long work on a terminal.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace bloomset::cli {

/// Keys and bytes of the input files read so far, and the total bytes if known.
struct progress_state {
  std::uint64_t keys = 0;
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> total_bytes;
  double seconds = 0;
};

/// The line, at most that many columns: percentage, bar, keys, keys per second and remaining time.
/// Without a total only keys and keys per second.
std::string progress_line(const progress_state& state, std::size_t columns);

/// Draws that line on stderr, first after half a second, then at most ten times per second. Does
/// nothing if stderr is not a terminal, or one that cannot redraw a line (TERM=dumb), or if
/// `wanted` is false.
class progress {
 public:
  progress(bool wanted, std::optional<std::uint64_t> total_bytes);
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress() { clear(); }

  /// Cheap enough to call per batch of keys.
  void update(std::uint64_t keys, std::uint64_t bytes) {
    if (on_) draw(keys, bytes);
  }
  /// Removes the line. To be called before another message.
  void clear() noexcept;

 private:
  using clock = std::chrono::steady_clock;

  void draw(std::uint64_t keys, std::uint64_t bytes);

  bool on_;
  bool shown_ = false;
  std::optional<std::uint64_t> total_bytes_;
  clock::time_point start_ = clock::now();
  clock::time_point next_ = start_ + std::chrono::milliseconds(500);
};

}  // namespace bloomset::cli
