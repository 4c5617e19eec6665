#include <cstdio>
#include <exception>
#include <new>

#include "command.hpp"

int main(int argc, char** argv) {
  try {
    return bloomery::cli::run(argc, argv);
  } catch (const std::bad_alloc&) {
    (void)std::fputs("bloomery: out of memory\n", stderr);
  } catch (const std::exception& unexpected) {
    (void)std::fprintf(stderr, "bloomery: %s\n", unexpected.what());
  }
  return 2;
}
