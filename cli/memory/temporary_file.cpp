#include "memory/temporary_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bloomset/plan/units.hpp>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "terminal/system.hpp"

namespace bloomset::cli {
namespace {

std::string temporary_folder() {
  const char* const named = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe)
  return named == nullptr || *named == '\0' ? "/tmp" : named;
}

/// Where there are no files without a name, the file has one for a moment, and a process that is
/// killed in this moment leaves it, empty.
int open_temporary(const std::string& folder) {
  const int nameless = open_nameless(folder.c_str());
  if (nameless >= 0) return nameless;
  std::string name = folder + "/bloomset-XXXXXX";
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

}  // namespace

failure temporary_file::no_room(std::string_view what) const {
  auto why = system_failure(folder_, what);
  why.message += "; set TMPDIR to a folder with more room, or raise --memory-limit";
  return why;
}

result<temporary_file> temporary_file::make() {
  std::string folder = temporary_folder();
  const int file = open_temporary(folder);
  temporary_file made(std::move(folder), file);
  if (file < 0) return made.no_room("make a temporary file");
  return made;
}

result<void> temporary_file::check_space(std::uint64_t bytes) {
  const std::string folder = temporary_folder();
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  if (error || space.available >= bytes) return {};
  return fail(errc::io, fmt::format("{}: this folder has {} free for temporary files, and {} are "
                                    "needed; plan a smaller filter, set TMPDIR to another folder, "
                                    "or raise --memory-limit",
                                    folder, format_bytes(space.available), format_bytes(bytes)));
}

temporary_file::temporary_file(temporary_file&& other) noexcept
    : folder_(std::move(other.folder_)),
      file_(std::exchange(other.file_, -1)),
      size_(std::exchange(other.size_, 0)) {}

temporary_file::~temporary_file() {
  if (file_ >= 0) ::close(file_);
}

result<void> temporary_file::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return no_room("write a temporary file");
    const auto count = written < 0 ? 0 : static_cast<std::size_t>(written);
    size_ += count;
    bytes = bytes.subspan(count);
  }
  return {};
}

result<void> temporary_file::read(std::uint64_t at, std::span<std::byte> to) const {
  while (!to.empty()) {
    const ssize_t got = ::pread(file_, to.data(), to.size(), static_cast<off_t>(at));
    if (got == 0) errno = EIO;  // another program shortened it
    if (got <= 0 && errno != EINTR) return system_failure(folder_, "read the temporary file in");
    const auto count = got < 0 ? 0 : static_cast<std::size_t>(got);
    at += count;
    to = to.subspan(count);
  }
  return {};
}

result<std::byte*> temporary_file::map(std::size_t size) {
  // Without reserved space, a write to a mapped page would end the process when the disk is full.
  if (!reserve_room(file_, size)) return no_room("reserve room for the filter");
  void* const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (at == MAP_FAILED) return system_failure(folder_, "map a temporary file in");
  size_ = size;
  return static_cast<std::byte*>(at);
}

}  // namespace bloomset::cli
