#include "memory/file_memory.hpp"

#include <sys/mman.h>

#include <bloomset/memory_source.hpp>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "memory/temporary_file.hpp"
#include "terminal/system.hpp"

namespace bloomset::cli {
namespace {

constexpr std::size_t min_file = std::size_t{1} << 16;

// Threads that build a filter's parts allocate at the same time.
struct file_memory {
  std::mutex mutex;
  std::map<void*, std::size_t> mapped;
  std::optional<failure> failed;
};

file_memory& all() noexcept {
  static file_memory memory;
  return memory;
}

// The mapping keeps the file, so no descriptor stays open.
void* allocate(std::size_t size) noexcept {
  if (size < min_file) return std::calloc(1, size);
  auto file = temporary_file::make();
  auto at = file ? file->map(size) : result<std::byte*>(fail(file.error()));
  const std::lock_guard lock(all().mutex);
  if (!at) {
    all().failed = at.error();
    return nullptr;
  }
  all().mapped.emplace(*at, size);
  return *at;
}

void release(void* at, std::size_t size) noexcept {
  if (size < min_file) {
    std::free(at);  // NOLINT(cppcoreguidelines-no-malloc)
    return;
  }
  {
    const std::lock_guard lock(all().mutex);
    all().mapped.erase(at);
  }
  ::munmap(at, size);
  // A builder that frees its parts has copied them.
  release_file_pages();
}

}  // namespace

void use_file_memory() noexcept {
  use_memory_source({allocate, release});
}

failure file_memory_failure(failure otherwise) {
  return all().failed ? *all().failed : std::move(otherwise);
}

void release_file_pages() noexcept {
  const std::lock_guard lock(all().mutex);
  for (const auto& [at, size] : all().mapped) release_pages(at, size);
}

}  // namespace bloomset::cli
