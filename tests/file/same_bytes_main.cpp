// Compares the library's output on this machine with pinned values: a hash of each kind's plans
// (plan_table.hpp), and every golden file. It is for other machines and compilers (same_bytes.sh),
// so it needs no test framework.
//   same_bytes [GOLDEN_FOLDER]
// Without a folder it compares plans only. Exits with 1 if anything differs.

#include <cstdio>

#include "tests/support/plan_table.hpp"
#ifndef BLOOMSET_PLANS_ALONE
#include "tests/support/golden_recipes.hpp"
#endif

namespace bloomset::test {
namespace {

bool plans_are_the_same() {
  bool all_same = true;
  for (const pinned_plans& each : pinned) {
    const std::uint64_t hash = hash_of_plans(each.kind);
    std::printf("%-16s 0x%016llx\n", each.kind.data(), static_cast<unsigned long long>(hash));
    all_same = all_same && hash == each.hash;
  }
  return all_same;
}

#ifndef BLOOMSET_PLANS_ALONE
std::vector<std::byte> contents(const std::string& path) {
  std::vector<std::byte> bytes;
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return bytes;
  std::array<std::byte, 4096> some{};
  std::size_t read = 0;
  while ((read = std::fread(some.data(), 1, some.size(), file)) != 0) {
    bytes.insert(bytes.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(read));
  }
  std::fclose(file);
  return bytes;
}

/// The first difference between a golden file and this machine; empty if there is none.
std::string_view fault_of(const recipe& how, const std::vector<std::byte>& golden) {
  if (golden.empty()) return "is not there";
  const std::string name(how.name);
  stored_filter stored = value_of(read_bytes(golden));
  value_of(unlock(stored, key_of(how), name));
  const any_filter filter = value_of(open_any(stored, access::writable, name));
  for (const std::string& key : golden_keys(how)) {
    if (!filter.may_contain(key)) return "has lost a key";
  }
  if (serialize(filter.image()) != golden) return "is written again with other bytes";
  if (serialize(cook(how).image()) != golden) return "is made with other bytes";
  return {};
}

bool golden_files_are_the_same(const std::string& folder) {
  bool all_same = true;
  for (const recipe& how : recipes()) {
    const std::string_view fault =
        fault_of(how, contents(folder + "/" + std::string(how.name) + ".bloom"));
    std::printf("%-32s %s\n", how.name.data(), fault.empty() ? "the same" : fault.data());
    all_same = all_same && fault.empty();
  }
  return all_same;
}
#endif

}  // namespace
}  // namespace bloomset::test

int main([[maybe_unused]] int argc, [[maybe_unused]] char** argv) {
  bool all_same = bloomset::test::plans_are_the_same();
#ifndef BLOOMSET_PLANS_ALONE
  if (argc > 1) all_same = bloomset::test::golden_files_are_the_same(argv[1]) && all_same;
#endif
  return all_same ? 0 : 1;
}
