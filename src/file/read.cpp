#include <bloomset/file.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "file/announced.hpp"
#include "file/descriptor.hpp"
#include "file/published.hpp"

namespace bloomset {
namespace {

using detail::descriptor;
using detail::system_failure;

constexpr std::size_t first_bytes = std::size_t{1} << 16;
// Filters of other programs do not say in one way how long they are.
constexpr std::uint64_t max_unsigned_stream = std::uint64_t{1} << 30;

/// Whether no byte is a control character that texts lack. Filters of that length have some.
bool is_text(std::span<const std::byte> bytes) noexcept {
  return std::ranges::none_of(bytes, [](std::byte each) {
    const auto byte = std::to_integer<unsigned>(each);
    return byte < 0x07 || (byte > 0x0d && byte < 0x1b);
  });
}

/// The number of bytes to read of a stream with these first ones, which may have no end.
std::uint64_t max_bytes(std::span<const std::byte> first, bool is_device) noexcept {
  // One byte more than announced shows that the length is wrong.
  if (has_signature(first)) return detail::announced_bytes(first) + 1;
  return is_device || is_text(first) ? first.size() : max_unsigned_stream;
}

/// Reads a file that cannot be mapped, to its end or as far as it may be a filter. It reads in
/// pieces, so that memory grows with the bytes that arrive.
result<mapped_storage> read_all(const descriptor& file, bool is_device, const std::string& name) {
  constexpr std::size_t piece = std::size_t{1} << 20;
  auto bytes = std::make_shared<std::vector<std::byte>>();
  std::uint64_t most = first_bytes;
  for (;;) {
    const std::size_t had = bytes->size();
    if (had == first_bytes) most = max_bytes(*bytes, is_device);
    if (had >= most) break;
    const auto room = static_cast<std::size_t>(std::min<std::uint64_t>(piece, most - had));
    bytes->resize(had + room);
    const ssize_t got = ::read(file.get(), bytes->data() + had, room);
    if (got < 0 && errno != EINTR) return system_failure(name, "read");
    bytes->resize(had + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got == 0) break;
  }
  if (bytes->size() == max_unsigned_stream && !has_signature(*bytes)) {
    return fail(
        errc::unsupported,
        detail::format_text("{}: this stream is not a Bloomset filter, and it is too long to be "
                            "held in memory as a filter of another program; save it to a file",
                            name));
  }
  const std::span<const std::byte> span = *bytes;
  return mapped_storage(std::move(bytes), span);
}

result<mapped_storage> map_all(const descriptor& file, std::size_t size, const std::string& name) {
  void* at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
  if (at == MAP_FAILED) return system_failure(name, "map");
  std::shared_ptr<const void> owner(at, [size](const void* mapping) {
    ::munmap(const_cast<void*>(mapping), size);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  });
  return mapped_storage(std::move(owner), {static_cast<const std::byte*>(at), size});
}

}  // namespace

result<mapped_storage> map_bytes(const std::filesystem::path& path) {
  const std::string name = path.string();
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return system_failure(name, "open");
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return system_failure(name, "examine");
  if (S_ISDIR(status.st_mode)) {
    return fail(failure{errc::io, name + ": this is a folder; give a filter file", EISDIR});
  }
  const bool mappable = S_ISREG(status.st_mode) && status.st_size > 0;
  return mappable ? map_all(file, static_cast<std::size_t>(status.st_size), name)
                  : read_all(file, S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode), name);
}

result<stored_filter> map_file(const std::filesystem::path& path, verification how) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return detail::map_folder(path, how);
  auto bytes = map_bytes(path);
  if (!bytes) return fail(std::move(bytes.error()));
  return read_stored(*bytes, how, path.string());
}

result<file_lock> file_lock::acquire(const std::filesystem::path& path) {
  const std::string name = path.string();
  for (;;) {
    descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return system_failure(name, "open");
    while (::flock(file.get(), LOCK_EX) != 0) {
      if (errno != EINTR) return system_failure(name, "lock");
    }
    // While this process waited, the holder of the lock may have put a new file in the path. The
    // lock is then on a file that nobody will read again.
    struct stat locked{};
    struct stat current{};
    if (::fstat(file.get(), &locked) != 0 || ::stat(path.c_str(), &current) != 0) {
      return system_failure(name, "examine");
    }
    if (locked.st_ino == current.st_ino && locked.st_dev == current.st_dev) {
      return file_lock(std::make_shared<descriptor>(std::move(file)));
    }
  }
}

}  // namespace bloomset
