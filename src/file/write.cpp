#include <bloomset/file.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "core/format.hpp"
#include "core/system.hpp"
#include "file/descriptor.hpp"

namespace bloomset {
namespace {

namespace fs = std::filesystem;
using detail::descriptor;
using detail::system_failure;

bool write_all(int file, std::span<const std::byte> bytes) noexcept {
  // One system call writes at most about 2 GiB. Pieces of 256 MiB also let signals be handled in
  // between.
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

/// Writes a new file, with holes in place of zeros: an empty filter needs no disk.
bool write_sparse(int file, byte_pieces pieces) noexcept {
  constexpr std::size_t block = std::size_t{1} << 16;
  for (std::span<const std::byte> left : pieces) {
    while (!left.empty()) {
      const auto now = left.first(std::min(block, left.size()));
      const bool done = detail::is_zero(now)
                            ? ::lseek(file, static_cast<off_t>(now.size()), SEEK_CUR) >= 0
                            : write_all(file, now);
      if (!done) return false;
      left = left.subspan(now.size());
    }
  }
  const off_t size = ::lseek(file, 0, SEEK_CUR);
  return size >= 0 && ::ftruncate(file, size) == 0;  // the last bytes may be a hole
}

/// Calls `write(pieces)` with all pieces of a filter file.
template <class Write>
result<void> with_pieces(const filter_image& image, Write&& write) {
  const auto header = serialize_header(image);
  std::vector<std::span<const std::byte>> pieces = {header};
  pieces.insert(pieces.end(), image.payload.begin(), image.payload.end());
  return write(byte_pieces(pieces));
}

/// Gives a new file the owner, group and mode of the file that it will replace, as far as this
/// process may set them. Only root can give a file to another user; other users can give it only to
/// their own groups. Set-id bits never pass to another owner, nor the group's permissions to
/// another group. Returns false if the mode cannot be set.
bool take_attributes(int file, const struct stat& old) noexcept {
  constexpr auto same = static_cast<uid_t>(-1);
  [[maybe_unused]] const bool group_given =
      ::fchown(file, old.st_uid, old.st_gid) == 0 || ::fchown(file, same, old.st_gid) == 0;
  struct stat now{};  // more reliable than those calls: some file systems refuse a change that
                      // changes nothing
  if (::fstat(file, &now) != 0) return false;
  mode_t mode = old.st_mode & 07777U;
  if (now.st_uid != old.st_uid || now.st_gid != old.st_gid) mode &= 0777U;
  if (now.st_gid != old.st_gid) mode = (mode & 0707U) | ((mode & 07U) << 3);
  return ::fchmod(file, mode) == 0;
}

/// A new file in the target's folder. It has no name where the file system supports that, so a
/// process that dies leaves nothing behind (docs/maintain/decisions/base/atomic-replace.md).
/// Elsewhere it has a hidden name and is removed unless it is published.
class pending_file {
 public:
  explicit pending_file(fs::path target)
      : target_(std::move(target)),
        folder_(target_.has_parent_path() ? target_.parent_path() : fs::path(".")) {}
  pending_file(const pending_file&) = delete;
  pending_file& operator=(const pending_file&) = delete;
  ~pending_file() {
    if (name_) ::unlink(name_->c_str());
  }

  int get() const noexcept { return file_.get(); }

  result<void> create(mode_t mode) {
    file_ = descriptor(detail::open_nameless(folder_.c_str(), mode));
    if (file_) return {};
    name_ = random_name();
    file_ = descriptor(::open(name_->c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode));
    if (file_) return {};
    name_.reset();
    return system_failure(target_.string(), "create the file");
  }

  /// Puts the written file into its place in one step.
  result<void> publish(if_exists policy) {
    const std::string target = target_.string();
    if (!detail::sync_to_disk(file_.get())) return system_failure(target, "write");
    // A folder that may not be read cannot be synced. The file is whole all the same.
    const descriptor folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder && errno != EACCES) return system_failure(target, "open the folder of the file");
    if (policy == if_exists::refuse) {
      if (!link_to(target_)) {
        if (errno == EEXIST) return fail(errc::exists, target + ": the file exists already");
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
    // Some file systems cannot sync a folder.
    if (folder && !detail::sync_to_disk(folder.get()) && errno != EINVAL && errno != ENOTSUP) {
      return system_failure(target, "sync the folder of the file, which is written");
    }
    return {};
  }

 private:
  bool link_to(const fs::path& to) const noexcept {
    if (name_) return ::link(name_->c_str(), to.c_str()) == 0;
    return detail::link_nameless(file_.get(), to.c_str());
  }

  /// A nameless file can replace another only by way of a name of its own, for the moment between
  /// two system calls. Writers try the same name first and hold the lock of the file that has it. A
  /// name that a killed writer left has no lock, and the next writer removes it. Writers do not
  /// wait for each other, because in a shared folder anyone can have that name; the file then gets
  /// a random one.
  result<void> take_passing_name() {
    const fs::path shared = folder_ / detail::format_text(".{}.bloomset.tmp", short_name());
    (void)::flock(file_.get(), LOCK_EX);
    fs::path name = shared;
    for (bool first = true; !link_to(name); first = false) {
      if (errno != EEXIST) return system_failure(target_.string(), "create the file");
      if (!first || !remove_leftover(shared)) name = random_name();
    }
    name_ = name;
    return {};
  }

  /// Removes the file that a killed writer left. Returns false if the name is still taken.
  static bool remove_leftover(const fs::path& name) noexcept {
    const descriptor left(::open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!left) return errno == ENOENT;
    if (::flock(left.get(), LOCK_EX | LOCK_NB) != 0) return false;
    // Its writer may have finished just now, and the name may be gone or belong to another writer.
    struct stat locked{};
    struct stat named{};
    return ::fstat(left.get(), &locked) == 0 && ::lstat(name.c_str(), &named) == 0 &&
           locked.st_ino == named.st_ino && locked.st_dev == named.st_dev &&
           ::unlink(name.c_str()) == 0;
  }

  fs::path random_name() const {
    return folder_ / detail::format_text(".{}.{:016x}.tmp", short_name(), detail::random_bits());
  }

  /// The beginning of the target's name, so that a longer name fits into the 255 bytes of a name.
  std::string short_name() const {
    std::string name = target_.filename().string();
    std::size_t size = std::min<std::size_t>(name.size(), 200);
    while (size < name.size() && (name[size] & 0xc0) == 0x80) --size;  // within a character
    name.resize(size);
    return name;
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
  const bool written = std::all_of(pieces.begin(), pieces.end(),
                                   [file](auto piece) { return write_all(file, piece); });
  if (!written) return system_failure(name, "write");
  return {};
}

namespace {

/// The path at the end of links to a file that is not there yet.
fs::path end_of_links(fs::path path) {
  constexpr int max_links = 40;
  for (int i = 0; i < max_links; ++i) {
    std::error_code error;
    const fs::path to = fs::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / to;
  }
  return path;
}

}  // namespace

result<void> write_file(byte_pieces pieces, const fs::path& path, if_exists policy) {
  const std::string name = path.string();
  std::optional<struct stat> replaced;
  fs::path target = path;
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) {
      return fail(failure{errc::io, name + ": this is a folder; give a file's name", EISDIR});
    }
    if (!S_ISREG(status.st_mode)) {
      const descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
      if (!file) return system_failure(name, "open");
      return write_stream(pieces, file.get(), name);
    }
    if (policy == if_exists::refuse) return fail(errc::exists, name + ": the file exists already");
    replaced = status;
    std::error_code error;
    target = fs::canonical(path, error);
    if (error) target = path;
  } else if (errno == ENOENT) {
    target = end_of_links(path);
  }
  // A new file has the usual mode less the umask. A file that replaces another is private until it
  // has the other's mode.
  pending_file pending(target);
  if (auto ok = pending.create(replaced ? 0600 : 0666); !ok) return ok;
  if (replaced && !take_attributes(pending.get(), *replaced)) {
    return system_failure(name, "set the mode of");
  }
  if (!write_sparse(pending.get(), pieces)) return system_failure(name, "write");
  return pending.publish(policy);
}

}  // namespace bloomset
