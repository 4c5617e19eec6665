#pragma once

// How far a long run is, for who watches it on a terminal.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace bloomery::cli {

/// How far it is: keys read, bytes of the input files read, and all of them where that is known.
struct progress_state {
  std::uint64_t keys = 0;
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> total_bytes;
  double seconds = 0;
};

/// The line shown, at most `width` wide: share done, a bar, keys, keys a second and the time left;
/// without a total only keys and rate.
std::string progress_line(const progress_state& state, std::size_t width);

/// Draws that line on stderr over itself, if stderr is a terminal and it is wanted; else does
/// nothing. The first after half a second, then at most ten in a second.
class progress {
 public:
  progress(bool wanted, std::optional<std::uint64_t> total_bytes);
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress() { clear(); }

  /// Cheap enough for each batch of keys.
  void update(std::uint64_t keys, std::uint64_t bytes) {
    if (on_) draw(keys, bytes);
  }
  /// Takes the line away, so that something else can be said.
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

}  // namespace bloomery::cli
