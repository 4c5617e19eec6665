// A filter of the lines of one file, queried with the lines of another. quickstart.sh builds it
// first.

#include <bloomset/blocked_bloom.hpp>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

std::vector<std::string> lines_of(const char* path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

int main(int count, char** arguments) {
  if (count != 3) {
    std::fputs("usage: two_lists MEMBERS NON_MEMBERS, which are two files of lines\n", stderr);
    return 2;
  }
  const auto members = lines_of(arguments[1]);
  const auto non_members = lines_of(arguments[2]);
  if (members.empty() || non_members.empty()) {
    std::fprintf(stderr, "two_lists: no line in %s\n", arguments[members.empty() ? 1 : 2]);
    return 2;
  }

  bloomset::blocked_bloom filter({.capacity = members.size(), .fpr = 0.01});
  filter.insert(members);

  std::size_t found = 0;
  std::size_t passed = 0;
  for (const auto& key : members) found += filter.may_contain(key);
  for (const auto& key : non_members) passed += filter.may_contain(key);
  std::printf("%zu of %zu members found\n", found, members.size());
  std::printf("%zu of %zu non-members pass as members: %.2f%%, where 1%% was requested\n", passed,
              non_members.size(),
              100.0 * static_cast<double>(passed) / static_cast<double>(non_members.size()));
  return found == members.size() ? 0 : 1;
}
