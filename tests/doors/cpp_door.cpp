// The C++ door of the matrix (doors.py): cpp_door FILTER KEYS [SECRET]
// KEYS has keys one after the other, each behind its size, 8 little-endian bytes. Prints an answer
// per key, 0 or 1, of single queries on one line and of a batch on the next.

#include <bit>
#include <bloomset/any_filter.hpp>
#include <bloomset/hash.hpp>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

int main(int count, char** words) {
  if (count < 3) return 2;
  static_assert(std::endian::native == std::endian::little);
  std::ifstream file(words[2], std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string_view> keys;
  for (std::string_view rest = bytes; !rest.empty();) {
    std::uint64_t size = 0;
    std::memcpy(&size, rest.data(), sizeof size);
    keys.push_back(rest.substr(sizeof size, size));
    rest.remove_prefix(sizeof size + size);
  }
  const auto secret = count > 3 ? bloomset::hash_key::parse(words[3]) : std::nullopt;
  const auto filter = bloomset::load(words[1], secret);
  if (!filter) {
    std::fprintf(stderr, "%s\n", filter.error().message.c_str());
    return 2;
  }
  for (const std::string_view key : keys) std::putchar(filter->may_contain(key) ? '1' : '0');
  std::putchar('\n');
  const auto answers = std::make_unique<bool[]>(keys.size());
  filter->may_contain(keys, {answers.get(), keys.size()});
  for (std::size_t i = 0; i < keys.size(); ++i) std::putchar(answers[i] ? '1' : '0');
  std::putchar('\n');
}
