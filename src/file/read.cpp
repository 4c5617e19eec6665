#include <bloomset/file.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <vector>

#include "file/descriptor.hpp"

namespace bloomset {
namespace {

using detail::descriptor;
using detail::system_failure;

// Reads a file that cannot be mapped, to its end. It reads in pieces, so that memory grows with the
// bytes that arrive.
result<mapped_storage> read_all(const descriptor& file, const std::string& name) {
  constexpr std::size_t piece = std::size_t{1} << 20;
  auto bytes = std::make_shared<std::vector<std::byte>>();
  for (;;) {
    const std::size_t had = bytes->size();
    bytes->resize(had + piece);
    const ssize_t got = ::read(file.get(), bytes->data() + had, piece);
    if (got < 0 && errno != EINTR) return system_failure(name, "read");
    bytes->resize(had + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got == 0) break;
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
                  : read_all(file, name);
}

result<stored_filter> map_file(const std::filesystem::path& path, verification how) {
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
