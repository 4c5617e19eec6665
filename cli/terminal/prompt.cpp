#include "terminal/prompt.hpp"

#include <fcntl.h>
#include <sys/select.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <utility>

#include "memory/wiped.hpp"
#include "terminal/system.hpp"

namespace bloomset::cli {
namespace {

// The signals that end or stop a program from its terminal.
constexpr std::array caught_signals = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU};
// A terminal gives lines of up to 4096 bytes (termios, canonical mode).
constexpr std::size_t longest_line = 4096;

volatile std::sig_atomic_t caught =
    0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void catch_signal(int number) {
  caught = number;
}

/// While this object lives, those signals are held back. wait_for_input() reports them instead.
class held_signals {
 public:
  held_signals() noexcept {
    caught = 0;
    sigset_t held;
    sigemptyset(&held);  // sigemptyset and sigaddset are macros on macOS
    for (const int number : caught_signals) sigaddset(&held, number);
    ::sigprocmask(SIG_BLOCK, &held, &before_);
    for (std::size_t i = 0; i < caught_signals.size(); ++i) {
      ::sigaction(caught_signals[i], nullptr, &actions_[i]);
      if (actions_[i].sa_handler == SIG_IGN) continue;
      struct sigaction mine{};
      mine.sa_handler = catch_signal;
      ::sigaction(caught_signals[i], &mine, nullptr);
    }
  }
  held_signals(const held_signals&) = delete;
  held_signals& operator=(const held_signals&) = delete;
  ~held_signals() {
    for (std::size_t i = 0; i < caught_signals.size(); ++i) {
      ::sigaction(caught_signals[i], &actions_[i], nullptr);
    }
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

  /// False if a signal came first.
  bool wait_for_input(int terminal) const noexcept {
    // macOS has no ppoll, and pselect() knows only the lower descriptors.
    while (caught == 0 && terminal < FD_SETSIZE) {
      fd_set one;
      FD_ZERO(&one);
      FD_SET(terminal, &one);
      const int ready = ::pselect(terminal + 1, &one, nullptr, nullptr, nullptr, &before_);
      if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
    }
    return caught == 0;
  }

 private:
  sigset_t before_{};
  std::array<struct sigaction, caught_signals.size()> actions_{};
};

/// While this object lives, the terminal does not show typed characters, except the end of the
/// line.
class silent_terminal {
 public:
  explicit silent_terminal(int terminal) noexcept : terminal_(terminal) {
    known_ = ::tcgetattr(terminal, &before_) == 0;
    if (!known_) return;
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO | ECHOE | ECHOK);
    silent.c_lflag |= ECHONL | ICANON;
    known_ = ::tcsetattr(terminal, TCSAFLUSH, &silent) == 0;
  }
  silent_terminal(const silent_terminal&) = delete;
  silent_terminal& operator=(const silent_terminal&) = delete;
  ~silent_terminal() {
    if (known_) ::tcsetattr(terminal_, TCSAFLUSH, &before_);
  }

  bool silent() const noexcept { return known_; }

 private:
  int terminal_;
  bool known_ = false;
  termios before_{};
};

void show(int terminal, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t done = ::write(terminal, text.data(), text.size());
    if (done < 0 && errno != EINTR) return;
    text.remove_prefix(done < 0 ? 0 : static_cast<std::size_t>(done));
  }
}

/// Reads up to the end of the line into `line`; false if a signal came first.
result<bool> read_line(int terminal, const held_signals& signals, wiped_bytes& line) {
  line.clear();
  for (;;) {
    if (!signals.wait_for_input(terminal)) return false;
    char byte = 0;
    const ssize_t got = ::read(terminal, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure("the terminal", "read");
    if (got == 0 || byte == '\n') return true;
    if (line.size() == longest_line) {
      return fail(errc::invalid_argument,
                  "the line is too long for a password on a terminal; give it in a pipe or a file");
    }
    line.push_back(byte);
    wipe(&byte, 1);
  }
}

result<wiped_bytes> ask(const std::string& question) {
  // Opens the terminal itself, since stdin may be open for reading only.
  const int opened = ::open("/dev/tty", O_RDWR | O_CLOEXEC);
  const int terminal = opened >= 0 ? opened : STDIN_FILENO;
  wiped_bytes line;
  line.reserve(longest_line);
  result<bool> read = false;
  for (;;) {
    {
      const held_signals signals;
      const silent_terminal silent(terminal);
      if (!silent.silent()) {
        read = system_failure("the terminal", "switch off the echo");
      } else {
        show(opened >= 0 ? opened : STDERR_FILENO, question);
        read = read_line(terminal, signals, line);
      }
    }
    if (!read || *read) break;
    // The terminal's settings are restored, so the signal may take effect now. After a signal that
    // only stopped the program, the prompt is repeated.
    (void)::raise(caught);
    if (caught != SIGTSTP && caught != SIGTTIN && caught != SIGTTOU) {
      read = fail(errc::io, "a signal ended the prompt");
      break;
    }
  }
  if (opened >= 0) ::close(opened);
  if (!read) return fail(std::move(read.error()));
  if (line.empty()) return fail(errc::invalid_argument, "no password was given");
  return line;
}

class prompted final : public byte_source {
 public:
  explicit prompted(std::string question) : question_(std::move(question)) {}

  result<std::size_t> read(std::span<char> into) override {
    if (!asked_) {
      asked_ = true;
      auto line = ask(question_);
      if (!line) return fail(std::move(line.error()));
      line_ = std::move(*line);
    }
    const std::size_t n = std::min(into.size(), line_.size() - at_);
    std::copy_n(line_.data() + at_, n, into.data());
    at_ += n;
    return n;
  }
  std::uint64_t consumed() const noexcept override { return at_; }

 private:
  std::string question_;
  bool asked_ = false;
  wiped_bytes line_;
  std::size_t at_ = 0;
};

}  // namespace

bool can_prompt() noexcept {
  return ::isatty(STDIN_FILENO) != 0;
}

std::unique_ptr<byte_source> prompt_source(std::string question) {
  return std::make_unique<prompted>(std::move(question));
}

}  // namespace bloomset::cli
