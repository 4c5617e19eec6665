#include "input/input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "terminal/system.hpp"

namespace bloomset::cli {
namespace {

bool is_stdin(const std::string& name) {
  return name == "-";
}

class file_source final : public byte_source {
 public:
  file_source(int file, bool owned) noexcept : file_(file), owned_(owned) {}
  file_source(const file_source&) = delete;
  file_source& operator=(const file_source&) = delete;
  ~file_source() override {
    if (owned_) ::close(file_);
  }

  result<std::size_t> read(std::span<char> into) override {
    for (;;) {
      const ssize_t got = ::read(file_, into.data(), into.size());
      if (got >= 0) {
        consumed_ += static_cast<std::uint64_t>(got);
        return static_cast<std::size_t>(got);
      }
      if (errno == EAGAIN) {  // another process made stdin non-blocking
        wait(-1);
      } else if (errno != EINTR) {
        return system_failure("", "read");
      }
    }
  }

  std::uint64_t consumed() const noexcept override { return consumed_; }
  bool would_wait() const noexcept override { return !wait(0); }

 private:
  bool wait(int milliseconds) const noexcept {
    pollfd one{.fd = file_, .events = POLLIN, .revents = 0};
    return ::poll(&one, 1, milliseconds) > 0;
  }

  int file_;
  bool owned_;
  std::uint64_t consumed_ = 0;
};

result<std::optional<std::uint64_t>> size_of(const struct stat& status, const std::string& shown) {
  if (S_ISDIR(status.st_mode)) {
    return fail(errc::io, shown + ": this is a folder; give files of keys");
  }
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace

result<std::unique_ptr<byte_source>> open_file(const std::string& name) {
  const std::string shown = is_stdin(name) ? stdin_name : name;
  const int file = is_stdin(name) ? STDIN_FILENO : ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return system_failure(shown, "open");
  auto source = std::make_unique<file_source>(file, !is_stdin(name));
  struct stat status{};
  if (::fstat(file, &status) != 0) return system_failure(shown, "read");
  if (auto size = size_of(status, shown); !size) return fail(std::move(size.error()));
  expect_sequential_reads(file);
  return source;
}

result<std::optional<std::uint64_t>> examine_file(const std::string& name,
                                                  const std::string& shown) {
  struct stat status{};
  if (is_stdin(name)) {
    if (::fstat(STDIN_FILENO, &status) != 0) return system_failure(stdin_name, "read");
    return size_of(status, stdin_name);
  }
  if (::stat(name.c_str(), &status) != 0 || ::access(name.c_str(), R_OK) != 0) {
    return system_failure(shown, "open");
  }
  return size_of(status, shown);
}

bool is_folder(const std::string& name) {
  struct stat status{};
  return !is_stdin(name) && ::stat(name.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

result<std::vector<std::string>> files_in(const std::string& folder,
                                          bool (*wanted)(std::string_view name) noexcept) {
  std::error_code failed;
  std::vector<std::string> names;
  for (std::filesystem::recursive_directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed)) {
    const std::string name = at->path().filename();
    if (wanted(name) && !is_folder(at->path())) names.push_back(at->path());
  }
  if (failed)
    return fail(errc::io, fmt::format("{}: cannot list the folder: {}", folder, failed.message()));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace bloomset::cli
