#include "filters/target.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bloomset/file.hpp>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "filters/filling.hpp"
#include "terminal/system.hpp"

namespace bloomset::cli {
namespace {

/// Precondition: a character device. Opening a pipe, for example, would affect its reader.
bool is_terminal(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return false;
  const bool yes = ::isatty(file) != 0;
  ::close(file);
  return yes;
}

std::optional<struct stat> regular_file(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return status;
}

/// The same, and "-" is an open file.
std::optional<struct stat> regular_file(const std::string& path, int dash) {
  if (path != "-") return regular_file(path);
  struct stat status{};
  if (::fstat(dash, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return status;
}

/// "www-data:adm". A user or group without a name is a number.
std::string owner_of(const struct stat& file) {
  const passwd* const user = ::getpwuid(file.st_uid);  // NOLINT(concurrency-mt-unsafe)
  const group* const its = ::getgrgid(file.st_gid);    // NOLINT(concurrency-mt-unsafe)
  return fmt::format("{}:{}", user != nullptr ? user->pw_name : fmt::to_string(file.st_uid),
                     its != nullptr ? its->gr_name : fmt::to_string(file.st_gid));
}

failure no_text(const std::string& target, std::string_view terminal) {
  return fail(errc::invalid_argument,
              fmt::format("-o {}: {} is a terminal, and a filter is binary; redirect it, or give "
                          "-o FILE",
                          target, terminal));
}

}  // namespace

result<void> check_target(const std::string& target, bool force) {
  if (target == "-") {
    if (::isatty(STDOUT_FILENO) == 0) return {};
    return no_text(target, "stdout");
  }
  struct stat status{};
  if (::stat(target.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) {
      return fail(errc::io, target + ": this is a folder; give a file's name");
    }
    if (S_ISCHR(status.st_mode) && is_terminal(target)) return no_text(target, "this");
    if (!S_ISREG(status.st_mode)) return {};
    if (!force) {
      return fail(errc::exists,
                  target + ": the file exists; give --force to replace it, or another name");
    }
  }
  const auto folder = std::filesystem::path(target).parent_path();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) {
    return system_failure(target, "create the file");
  }
  return {};
}

result<void> check_apart(const std::string& target, std::span<const std::string> inputs) {
  const auto written = regular_file(target, STDOUT_FILENO);
  if (!written) return {};
  for (const std::string& input : inputs) {
    const auto read = regular_file(input, STDIN_FILENO);
    if (!read || read->st_dev != written->st_dev || read->st_ino != written->st_ino) continue;
    const std::string_view name = input == "-" ? "stdin" : std::string_view(input);
    if (target == "-") {
      return fail(errc::invalid_argument,
                  fmt::format("{}: this input is also the output, by stdout; write another file, "
                              "and rename it then",
                              name));
    }
    return fail(errc::invalid_argument,
                fmt::format("{}: this is also an input, {}, which would be replaced; give another "
                            "name for the output",
                            target, name));
  }
  return {};
}

result<void> check_chart(const std::string& target, bool force) {
  if (target == "-") {
    return fail(
        errc::invalid_argument,
        "--plot: stdout has the figures, so the chart cannot be written there; give the name "
        "of a file");
  }
  if (!target.ends_with(".svg")) {
    return fail(errc::invalid_argument,
                fmt::format("--plot: a chart is written as SVG; name it {}",
                            std::filesystem::path(target).replace_extension(".svg").string()));
  }
  return check_target(target, force);
}

result<void> write_chart(const std::string& svg, const std::string& target, bool force) {
  const std::array pieces = {std::as_bytes(std::span(svg))};
  return replacing(target, [&] {
    return write_file(byte_pieces(pieces), target, force ? if_exists::replace : if_exists::refuse);
  });
}

result<void> replacing(const std::string& path, const std::function<result<void>()>& write) {
  const auto before = regular_file(path);
  if (auto ok = write(); !ok) return ok;
  const auto after = regular_file(path);
  if (before && after && (before->st_uid != after->st_uid || before->st_gid != after->st_gid)) {
    note(
        fmt::format("bloomset: warning: {}: the file now belongs to {}, because only root can keep "
                    "its owner {}",
                    path, owner_of(*after), owner_of(*before)));
  }
  return {};
}

}  // namespace bloomset::cli
