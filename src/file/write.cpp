#include <bloomery/file.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <optional>
#include <random>

#include "file/descriptor.hpp"
#include "file/header.hpp"

namespace bloomery {
namespace {

namespace fs = std::filesystem;
using detail::descriptor;
using detail::system_failure;

bool write_all(int file, std::span<const std::byte> bytes) noexcept {
  // One system call writes at most about 2 GiB; pieces of 256 MiB also let a signal come through.
  constexpr std::size_t piece = std::size_t{1} << 28;
  while (!bytes.empty()) {
    const ssize_t done = ::write(file, bytes.data(), std::min(piece, bytes.size()));
    if (done < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
  return true;
}

bool write_pieces(int file, byte_pieces pieces) noexcept {
  return std::all_of(pieces.begin(), pieces.end(),
                     [file](std::span<const std::byte> piece) { return write_all(file, piece); });
}

/// Calls `write(pieces)` with all of a filter file.
template <class Write>
result<void> with_pieces(const filter_image& image, Write&& write) {
  const auto header = detail::header_of(image);
  std::vector<std::span<const std::byte>> pieces = {header, image.parameters};
  pieces.insert(pieces.end(), image.payload.begin(), image.payload.end());
  return write(byte_pieces(pieces));
}

/// A new file in the target's folder. It has no name where the file system can do that, so that a
/// process that dies leaves nothing behind; else a hidden one, removed unless it is published.
class pending_file {
 public:
  static result<pending_file> make(fs::path target, mode_t mode) {
    const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
    pending_file made(std::move(target), folder);
    made.file_ = descriptor(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode));
    if (!made.file_) {
      made.name_ = made.fresh_name();
      made.file_ =
          descriptor(::open(made.name_->c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode));
      if (!made.file_) {
        made.name_.reset();
        return system_failure(made.target_.string(), "create the file");
      }
    }
    return made;
  }

  pending_file(pending_file&& other) noexcept
      : target_(std::move(other.target_)),
        folder_(std::move(other.folder_)),
        file_(std::move(other.file_)),
        name_(std::exchange(other.name_, std::nullopt)) {}
  pending_file& operator=(pending_file&&) = delete;
  pending_file(const pending_file&) = delete;
  pending_file& operator=(const pending_file&) = delete;
  ~pending_file() {
    if (name_) ::unlink(name_->c_str());
  }

  int get() const noexcept { return file_.get(); }

  /// Puts the written file into its place, all at once.
  result<void> publish(if_exists policy) {
    const std::string target = target_.string();
    if (::fsync(file_.get()) != 0) return system_failure(target, "write");
    if (policy == if_exists::refuse) {
      if (!link_to(target_)) {
        if (errno == EEXIST) {
          return fail(
              errc::exists,
              target + ": the file exists already, and is replaced only on demand (--force)");
        }
        return system_failure(target, "create the file");
      }
    } else {
      if (!name_) {
        if (auto ok = take_passing_name(); !ok) return ok;
      }
      if (::rename(name_->c_str(), target_.c_str()) != 0) {
        return system_failure(target, "replace the file");
      }
      name_.reset();
    }
    const descriptor folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder || ::fsync(folder.get()) != 0) return system_failure(target, "sync the folder of");
    return {};
  }

 private:
  pending_file(fs::path target, fs::path folder)
      : target_(std::move(target)), folder_(std::move(folder)) {}

  bool link_to(const fs::path& to) const noexcept {
    if (name_) return ::link(name_->c_str(), to.c_str()) == 0;
    std::array<char, 32> self{};
    (void)std::snprintf(self.data(), self.size(), "/proc/self/fd/%d", file_.get());
    return ::linkat(AT_FDCWD, self.data(), AT_FDCWD, to.c_str(), AT_SYMLINK_FOLLOW) == 0;
  }

  /// A nameless file can take another's place only by way of a name of its own, for the moment
  /// between two system calls. All writers use the same one and hold a lock on the file that has
  /// it, so that what a writer leaves there if it is killed in that moment, the next one takes
  /// away.
  result<void> take_passing_name() {
    const fs::path name = folder_ / fmt::format(".{}.bloomery.tmp", target_.filename().string());
    (void)::flock(file_.get(), LOCK_EX);
    while (!link_to(name)) {
      if (errno != EEXIST) return system_failure(target_.string(), "create the file");
      const descriptor other(::open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
      if (!other) {
        if (errno == ENOENT) continue;
        return system_failure(name.string(), "replace the file");
      }
      // Waits for a writer that lives. Afterwards the name may be gone, or another writer's.
      (void)::flock(other.get(), LOCK_EX);
      struct stat locked{};
      struct stat named{};
      if (::fstat(other.get(), &locked) == 0 && ::lstat(name.c_str(), &named) == 0 &&
          locked.st_ino == named.st_ino && locked.st_dev == named.st_dev &&
          ::unlink(name.c_str()) != 0) {
        return system_failure(name.string(), "replace the file");
      }
    }
    name_ = name;
    return {};
  }

  fs::path fresh_name() const {
    std::random_device random;
    return folder_ /
           fmt::format(".{}.{:08x}{:08x}.tmp", target_.filename().string(), random(), random());
  }

  fs::path target_;
  fs::path folder_;
  descriptor file_;
  std::optional<fs::path> name_;
};

}  // namespace

result<void> write_stream(const filter_image& image, int file, const std::string& name) {
  return with_pieces(image, [&](byte_pieces all) { return write_stream(all, file, name); });
}

result<void> write_file(const filter_image& image, const fs::path& path, if_exists policy) {
  return with_pieces(image, [&](byte_pieces all) { return write_file(all, path, policy); });
}

result<void> write_stream(byte_pieces pieces, int file, const std::string& name) {
  if (!write_pieces(file, pieces)) return system_failure(name, "write");
  return {};
}

result<void> write_file(byte_pieces pieces, const fs::path& path, if_exists policy) {
  const std::string name = path.string();
  constexpr mode_t mode = 0666;  // less the umask, as for any new file
  std::optional<mode_t> keep_mode;
  fs::path target = path;
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) {
      return fail(errc::io, name + ": this is a folder; give a file's name");
    }
    if (!S_ISREG(status.st_mode)) {
      const descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
      if (!file) return system_failure(name, "open");
      return write_stream(pieces, file.get(), name);
    }
    if (policy == if_exists::refuse) {
      return fail(errc::exists,
                  name + ": the file exists already, and is replaced only on demand (--force)");
    }
    keep_mode = status.st_mode & 07777;
    std::error_code error;
    target = fs::canonical(path, error);
    if (error) target = path;
  }
  auto pending = pending_file::make(target, mode);
  if (!pending) return fail(std::move(pending.error()));
  if (keep_mode && ::fchmod(pending->get(), *keep_mode) != 0) {
    return system_failure(name, "set the mode of");
  }
  if (!write_pieces(pending->get(), pieces)) return system_failure(name, "write");
  return pending->publish(policy);
}

}  // namespace bloomery
