#include "terminal/output.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "terminal/system.hpp"

namespace bloomset::cli {

output::output(int descriptor) : descriptor_(descriptor), buffer_(capacity) {}

output::~output() {
  write_all({buffer_.data(), used_});
}

result<void> output::flush() {
  write_all({buffer_.data(), used_});
  used_ = 0;
  return check();
}

result<void> output::check() const {
  if (error_ == 0) return {};
  errno = error_;
  return system_failure("stdout", "write");
}

void output::append_large(std::string_view bytes) noexcept {
  write_all({buffer_.data(), used_});
  used_ = 0;
  if (bytes.size() > capacity) {
    write_all(bytes);
  } else {
    append(bytes);
  }
}

void output::write_all(std::string_view bytes) noexcept {
  while (!bytes.empty() && error_ == 0) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      // The parent process ignores SIGPIPE. The reader is gone, so end without a message all the
      // same.
      (void)std::signal(SIGPIPE, SIG_DFL);
      (void)std::raise(SIGPIPE);
    } else if (errno == EAGAIN) {  // another process made stdout non-blocking
      pollfd one{.fd = descriptor_, .events = POLLOUT, .revents = 0};
      (void)::poll(&one, 1, -1);
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
}

}  // namespace bloomset::cli
