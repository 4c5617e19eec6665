#include <bloomset/detail/core/precondition.hpp>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace bloomset::detail {

void stop(const failure& why) {
  if (why.code == errc::out_of_memory) throw std::bad_alloc();
  (void)std::fprintf(stderr, "bloomset: %s\n", why.message.c_str());
  std::abort();
}

void throw_bad_access(const failure& why) {
  throw bad_result_access(why);
}

bool has_memory_for(void (*work)(void* context), void* context) try {
  work(context);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace bloomset::detail
