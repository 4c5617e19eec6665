// Writes the golden files that do not exist yet; run by hand after adding a recipe:
//
//     ninja -C build bloomset_make_golden && build/tests/bloomset_make_golden
//
// It never replaces a golden file: a released version wrote it, and it stays.

#include <cstdio>

#include "tests/support/golden_recipes.hpp"

int main() {
  using namespace bloomset::test;
  try {
    for (const recipe& how : recipes()) {
      const auto path = golden_path(how);
      const auto saved = bloomset::save(cook(how), path, bloomset::if_exists::refuse);
      if (!saved && saved.error().code != bloomset::errc::exists) value_of(saved);
      std::printf("%-8s %s\n", saved ? "written" : "kept", path.c_str());
    }
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "%s\n", wrong.what());
    return 1;
  }
  return 0;
}
