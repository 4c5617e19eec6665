#include "target.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "system.hpp"

namespace bloomery::cli {

result<void> check_target(const std::string& target, bool force) {
  if (target == "-") {
    if (::isatty(STDOUT_FILENO) == 0) return {};
    return fail(
        errc::invalid_argument,
        "-o -: stdout is a terminal, and a filter is no text; redirect it, or give -o FILE");
  }
  struct stat status{};
  if (::stat(target.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) {
      return fail(errc::io, target + ": this is a folder; give a file's name");
    }
    if (!S_ISREG(status.st_mode)) return {};
    if (!force) {
      return fail(
          errc::exists,
          target + ": the file exists already; give --force to replace it, or another name");
    }
  }
  const auto folder = std::filesystem::path(target).parent_path();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) {
    return system_failure(target, "create the file");
  }
  return {};
}

}  // namespace bloomery::cli
