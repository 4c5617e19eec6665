#include "terminal/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bloomset/plan/units.hpp>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "terminal/terminal.hpp"

namespace bloomset::cli {
namespace {

std::string per_second(double rate) {
  if (rate >= 1e6) return fmt::format("{:.1f} M/s", rate / 1e6);
  if (rate >= 1e3) return fmt::format("{:.1f} k/s", rate / 1e3);
  return fmt::format("{:.0f}/s", rate);
}

std::string clock_time(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::ceil(std::min(seconds, 1e9)));
  if (whole >= 3600) {
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  }
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

/// Whether the terminal knows the sequences that redraw a line.
bool erases_lines() noexcept {
  const char* const terminal = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe)
  return terminal == nullptr || std::string_view(terminal) != "dumb";
}

void put(std::string_view text) noexcept {
  // A failed write to the terminal is ignored.
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

}  // namespace

std::string progress_line(const progress_state& state, std::size_t columns) {
  const double seconds = std::max(state.seconds, 1e-3);
  std::string text = fmt::format("{}, {}", format_count(state.keys, "key"),
                                 per_second(static_cast<double>(state.keys) / seconds));
  if (state.total_bytes && *state.total_bytes != 0) {
    const double share = std::clamp(
        static_cast<double>(state.bytes) / static_cast<double>(*state.total_bytes), 0.0, 1.0);
    if (share > 0) text += fmt::format(", {} left", clock_time(seconds * (1 - share) / share));
    constexpr std::size_t bar = 20;
    const auto filled = static_cast<std::size_t>(share * bar);
    text = fmt::format("{:3.0f}% [{:#<{}}{:-<{}}] {}", std::floor(share * 100), "", filled, "",
                       bar - filled, text);
  }
  // The last column stays free, because some terminals wrap there.
  if (text.size() >= columns) text.resize(columns == 0 ? 0 : columns - 1);
  return text;
}

progress::progress(bool wanted, std::optional<std::uint64_t> total_bytes)
    : on_(wanted && ::isatty(STDERR_FILENO) != 0 && erases_lines()), total_bytes_(total_bytes) {}

void progress::draw(std::uint64_t keys, std::uint64_t bytes) {
  const auto now = clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  const std::chrono::duration<double> passed = now - start_;
  shown_ = true;
  put("\r\x1b[K" +
      progress_line(
          {.keys = keys, .bytes = bytes, .total_bytes = total_bytes_, .seconds = passed.count()},
          terminal_width(STDERR_FILENO).value_or(80)));
}

void progress::clear() noexcept {
  if (shown_) put("\r\x1b[K");
  shown_ = false;
}

}  // namespace bloomset::cli
