// Immutable tables on disk, as in an LSM tree, with a filter beside each. A lookup goes from the
// newest table to the oldest. It reads a table only if the table's filter passes the key.

#include <bloomset/file.hpp>
#include <bloomset/ribbon.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using row = std::pair<std::string, std::string>;
constexpr std::size_t key_bytes = 8;
constexpr std::size_t row_bytes = 16;

// Writes rows, sorted by key, and the filter of their keys.
bloomset::result<void> write_table(const std::string& path, const std::vector<row>& rows) {
  std::ofstream file(path, std::ios::binary);
  std::vector<std::string> keys;
  for (const auto& [key, value] : rows) {
    file << key << value;
    keys.push_back(key);
  }
  if (!file.flush()) return bloomset::fail(bloomset::errc::io, "cannot write " + path);
  const auto filter = bloomset::ribbon::build({.fpr = 0.01}, keys);
  if (!filter) return bloomset::fail(filter.error());
  return bloomset::save(*filter, path + ".filter");
}

struct table {
  std::string path;
  bloomset::ribbon_view filter;  // mapped: nothing is copied, and processes share its memory

  std::optional<std::string> read(const std::string& key) const {
    std::ifstream file(path, std::ios::binary);
    std::string found(row_bytes, ' ');
    for (std::size_t begin = 0, end = std::filesystem::file_size(path) / row_bytes; begin < end;) {
      const std::size_t middle = begin + (end - begin) / 2;
      file.seekg(static_cast<std::streamoff>(middle * row_bytes)).read(found.data(), row_bytes);
      const int order = found.compare(0, key_bytes, key);
      if (order == 0) return found.substr(key_bytes);
      (order < 0 ? begin : end) = order < 0 ? middle + 1 : middle;
    }
    return std::nullopt;
  }
};

int main() {
  const auto eight_digits = [](int n) { return std::to_string(10'000'000 + n); };
  std::vector<table> tables;
  for (int t = 0; t < 8; ++t) {
    std::vector<row> rows;
    for (int n = t; n < 80'000; n += 8) rows.emplace_back(eight_digits(n), eight_digits(n / 2));
    const std::string path = "table" + std::to_string(t);
    if (!write_table(path, rows)) return 1;
    auto filter = bloomset::open<bloomset::ribbon_view>(path + ".filter");
    if (!filter) return 1;
    tables.push_back({path, std::move(*filter)});
  }

  int asked = 0, reads = 0, found = 0;
  for (int n = 0; n < 150'000; n += 15) {  // keys from 80'000 on are in no table
    const std::string key = eight_digits(n);
    std::optional<std::string> value;
    for (auto t = tables.rbegin(); t != tables.rend() && !value; ++t) {
      ++asked;
      if (!t->filter.may_contain(key)) continue;
      ++reads;
      value = t->read(key);
    }
    found += value == eight_digits(n / 2);
  }
  std::printf("10000 lookups found %d keys\n", found);
  std::printf("%d reads without filters, %d with them\n", asked, reads);
}
