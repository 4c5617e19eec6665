// Writes the golden files that do not exist yet; run by hand after adding a recipe:
//
//     ninja -C build bloomset_make_golden && build/tests/bloomset_make_golden
//
// It never replaces a golden file: a released version wrote it, and it stays.

#include <cstdio>

#include "tests/support/golden_patches.hpp"
#include "tests/support/key_sets_of_files.hpp"

int main() {
  using namespace bloomset::test;
  try {
    const auto save = [](const auto& made, const std::filesystem::path& path) {
      const auto saved = bloomset::save(made, path, bloomset::if_exists::refuse);
      if (!saved && saved.error().code != bloomset::errc::exists) value_of(saved);
      std::printf("%-8s %s\n", saved ? "written" : "kept", path.c_str());
    };
    for (const recipe& how : recipes()) save(cook(how), golden_path(how));
    for (const golden_patch& how : golden_patches) {
      const auto patch = cook(how);
      const std::array pieces = {std::span<const std::byte>(patch)};
      const auto path = golden_folder() / (std::string(how.name) + ".patch");
      const auto saved =
          bloomset::write_file(bloomset::byte_pieces(pieces), path, bloomset::if_exists::refuse);
      if (!saved && saved.error().code != bloomset::errc::exists) value_of(saved);
      std::printf("%-8s %s\n", saved ? "written" : "kept", path.c_str());
    }
    save(value_of(golden_file_index()), golden_folder() / "file_index-1.which");
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "%s\n", wrong.what());
    return 1;
  }
  return 0;
}
