#include "publish/kept_part.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "publish/manifest.hpp"

namespace bloomset::cli {
namespace {

constexpr std::string_view ending = ".part";

}  // namespace

kept_part::kept_part(const std::string& target, std::string_view sha256) {
  const std::string path = target + "." + short_name(sha256) + std::string(ending);
  constexpr mode_t mode = 0600;
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, mode);
  struct stat status{};
  if (file_ >= 0 && (::flock(file_, LOCK_EX | LOCK_NB) != 0 || ::fstat(file_, &status) != 0 ||
                     !S_ISREG(status.st_mode))) {
    close();
  }
}

kept_part::~kept_part() {
  close();
}

void kept_part::close() noexcept {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
}

std::vector<std::byte> kept_part::bytes(std::uint64_t most) {
  std::vector<std::byte> all;
  struct stat status{};
  if (file_ < 0 || ::fstat(file_, &status) != 0) return all;
  if (static_cast<std::uint64_t>(status.st_size) > most) {
    clear();
    return all;
  }
  all.resize(static_cast<std::size_t>(status.st_size));
  std::size_t at = 0;
  while (at < all.size()) {
    const ssize_t got = ::pread(file_, all.data() + at, all.size() - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    at += static_cast<std::size_t>(got);
  }
  if (at < all.size()) {
    clear();
    all.clear();
  }
  return all;
}

void kept_part::append(std::span<const std::byte> bytes) noexcept {
  while (file_ >= 0 && !bytes.empty()) {
    const ssize_t got = ::write(file_, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return close();  // the bytes so far are still the first ones
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

void kept_part::clear() noexcept {
  if (file_ >= 0 && ::ftruncate(file_, 0) != 0) close();
}

void kept_part::remove_all(const std::string& target) noexcept {
  const std::filesystem::path path(target);
  const std::string begin = path.filename().string() + ".";
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(begin) || !name.ends_with(ending)) continue;
    const auto digits = std::string_view(name).substr(begin.size());
    if (short_name(digits).find_first_not_of("0123456789abcdef") == std::string::npos &&
        digits.size() == short_name(digits).size() + ending.size()) {
      std::filesystem::remove(entry.path(), ignored);
    }
  }
}

}  // namespace bloomset::cli
