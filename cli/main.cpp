#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string_view>

#include "memory/wiped.hpp"
#include "terminal/command.hpp"

namespace {

/// Only a mapped file gives this signal. A handler may not allocate, and cannot return.
extern "C" void end_at_bus_error(int) {
  constexpr std::string_view text =
      "bloomset: a mapped file could not be read or written: another program shortened it, or its "
      "disk failed; give a whole file, or set TMPDIR to another disk\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(2);
}

/// A file must not get the number of a stream that is closed, because messages would go into it.
/// What takes its place refuses the stream's calls as a closed one does, except that messages are
/// discarded.
void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    [[maybe_unused]] const int taken =
        ::open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_WRONLY);
  }
}

int run(int argc, char** argv) {
  try {
    return bloomset::cli::run(argc, argv);
  } catch (const std::bad_alloc&) {
    (void)std::fputs("bloomset: out of memory\n", stderr);
  } catch (const std::exception& unexpected) {
    (void)std::fprintf(stderr, "bloomset: %s\n", unexpected.what());
  }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  (void)std::signal(SIGBUS, end_at_bus_error);
  occupy_closed_streams();
  const int status = run(argc, argv);
  bloomset::cli::wipe_stack();
  return status;
}
