#include "file_memory.hpp"

#include <sys/mman.h>

#include <bloomery/memory_source.hpp>
#include <cstdlib>
#include <list>
#include <optional>
#include <utility>

#include "temporary_file.hpp"

namespace bloomery::cli {
namespace {

constexpr std::size_t min_file = std::size_t{1} << 20;

struct mapped_file {
  temporary_file file;
  std::byte* at;
};
struct file_memory {
  std::list<mapped_file> mapped;
  std::optional<failure> failed;
};

file_memory& all() noexcept {
  static file_memory memory;
  return memory;
}

void* allocate(std::size_t size) noexcept {
  if (size < min_file) return std::calloc(1, size);
  auto file = temporary_file::make();
  auto at = file ? file->map(size) : result<std::byte*>(fail(file.error()));
  if (!at) {
    all().failed = at.error();
    return nullptr;
  }
  all().mapped.push_back({std::move(*file), *at});
  return *at;
}

void release(void* at, std::size_t size) noexcept {
  if (size < min_file) {
    std::free(at);  // NOLINT(cppcoreguidelines-no-malloc)
    return;
  }
  std::erase_if(all().mapped, [at](const mapped_file& one) { return one.at == at; });
  ::munmap(at, size);
}

}  // namespace

void use_file_memory() noexcept {
  use_memory_source({allocate, release});
}

failure file_memory_failure(failure otherwise) {
  return all().failed ? *all().failed : std::move(otherwise);
}

void release_file_pages() noexcept {
  for (const mapped_file& one : all().mapped) one.file.release_pages(one.at);
}

}  // namespace bloomery::cli
