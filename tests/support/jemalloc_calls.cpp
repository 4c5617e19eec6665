// For servers that run with AddressSanitizer, which replaces malloc() but not the calls that only
// jemalloc has. Redis 8 allocates by both, and asks malloc_usable_size() of the sanitizer for the
// size of either. So it is preloaded, behind the sanitizer, and takes all memory from malloc().

#include <cstddef>
#include <cstdlib>

namespace {
constexpr int zeroed = 0x40;  // MALLOCX_ZERO
}  // namespace

extern "C" {

void* mallocx(std::size_t size, int flags) {
  return (flags & zeroed) != 0 ? std::calloc(1, size) : std::malloc(size);
}
void* rallocx(void* at, std::size_t size, int /*flags*/) {
  return std::realloc(at, size);
}
void dallocx(void* at, int /*flags*/) {
  std::free(at);
}
void sdallocx(void* at, std::size_t /*size*/, int /*flags*/) {
  std::free(at);
}
std::size_t nallocx(std::size_t size, int /*flags*/) {
  return size;
}
}
