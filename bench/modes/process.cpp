#include "process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "measure.hpp"

namespace bench {
namespace {

/// A figure of a file of /proc whose lines are "Name:   123 kB", in bytes.
std::uint64_t kernel_figure(const char* path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name) || line[name.size()] != ':') continue;
    return std::strtoull(line.c_str() + name.size() + 1, nullptr, 10) * 1024;
  }
  throw std::runtime_error(fmt::format("{} has no {}; this benchmark is for Linux", path, name));
}

}  // namespace

std::uint64_t memory_now() {
  return kernel_figure("/proc/self/status", "VmRSS");
}

std::optional<std::uint64_t> begin_peak() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;  // proc(5): forget the peak
  if (!file) return std::nullopt;
  return memory_now();
}

std::uint64_t peak_memory() {
  return kernel_figure("/proc/self/status", "VmHWM");
}

std::uint64_t memory_left() {
  return kernel_figure("/proc/meminfo", "MemAvailable");
}

std::string find_program(const std::string& name) {
  const char* const path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): no threads yet
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string at = fmt::format("{}/{}", folder, name);
    if (::access(at.c_str(), X_OK) == 0) return at;
  }
  return {};
}

finished run_program(const std::vector<std::string>& words, const std::string& input) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, input.c_str(), O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const stopwatch watch;
  const int failed =
      ::posix_spawn(&child, words.front().c_str(), &files, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (failed != 0) {
    throw std::runtime_error(fmt::format("cannot run {}: {}", words.front(),
                                         std::strerror(failed)));  // NOLINT(concurrency-mt-unsafe)
  }
  int status = 0;
  rusage usage{};
  while (::wait4(child, &status, 0, &usage) < 0) {
    if (errno != EINTR) throw std::runtime_error("wait4 failed");
  }
  if (!WIFEXITED(status)) {
    throw std::runtime_error(words.front() + " was ended by a signal");
  }
  if (WEXITSTATUS(status) != 0) {
    throw std::runtime_error(
        fmt::format("{} {} ended with {}", words[0], words[1], WEXITSTATUS(status)));
  }
  return {.seconds = watch.seconds(), .peak = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024};
}

scratch_folder::scratch_folder(const std::string& in) : path_(in + "/bloomset-bench-XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr) {
    throw std::runtime_error(fmt::format("cannot make a folder in {}; give --folder", in));
  }
}

scratch_folder::~scratch_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::uint64_t scratch_folder::room() const {
  return std::filesystem::space(path_).available;
}

}  // namespace bench
