// Which of a thousand tables on disk has a key? The reads of three ways: table by table, with a
// filter for each table, as Bigtable and LevelDB have, and with one index of all tables.

#include <bloomset/file.hpp>
#include <bloomset/file_index.hpp>
#include <bloomset/ribbon.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

constexpr int tables = 1000;
constexpr int rows = 1000;

std::string key_of(int n) {
  return std::to_string(10'000'000 + n);
}
std::string path_of(int table) {
  return "tables/" + std::to_string(table);
}

// Looks for a key in a table, and counts the read.
bool read(int table, const std::string& key, int& reads) {
  ++reads;
  std::ifstream rows_of(path_of(table));
  for (std::string row; std::getline(rows_of, row);) {
    if (row == key) return true;
  }
  return false;
}

int main() {
  std::filesystem::create_directory("tables");
  std::vector<bloomset::ribbon> filters;
  std::vector<bloomset::file_key> all;
  bloomset::file_index_spec spec{.names = {}, .fpr = 0.01};
  const bloomset::filter_hasher hash;
  for (int t = 0; t < tables; ++t) {
    std::ofstream file(path_of(t));
    std::vector<std::string> keys;
    for (int row = 0; row < rows; ++row) keys.push_back(key_of(row * tables + t));
    for (const std::string& key : keys) {
      file << key << '\n';
      all.push_back({hash(std::as_bytes(std::span(key))), static_cast<std::uint32_t>(t)});
    }
    auto filter = bloomset::ribbon::build({.fpr = 0.01}, keys);
    if (!filter || !file.flush()) return 1;
    filters.push_back(std::move(*filter));
    spec.names.push_back(path_of(t));
  }
  const auto index = bloomset::file_index::build(spec, bloomset::file_key_source::of(all));
  if (!index) return 1;

  int found[3] = {}, reads[3] = {}, probes[3] = {};
  for (int n = 0; n < 2'000'000; n += 49'999) {  // keys from 1'000'000 on are in no table
    const std::string key = key_of(n);
    bool is_found = false;
    for (int t = tables; !is_found && t-- != 0;) is_found = read(t, key, reads[0]);
    found[0] += is_found ? 1 : 0;
    is_found = false;
    for (int t = tables; !is_found && t-- != 0; ++probes[1]) {
      is_found = filters[static_cast<std::size_t>(t)].may_contain(key) && read(t, key, reads[1]);
    }
    found[1] += is_found ? 1 : 0;
    ++probes[2];
    for (const std::uint32_t t : index->files_of(key)) {
      found[2] += read(static_cast<int>(t), key, reads[2]) ? 1 : 0;
    }
  }
  const char* ways[] = {"table by table", "a filter per table", "one index"};
  for (int way = 0; way < 3; ++way) {
    std::printf("%-18s %7d probes %7d reads %4d found\n", ways[way], probes[way], reads[way],
                found[way]);
  }
}
