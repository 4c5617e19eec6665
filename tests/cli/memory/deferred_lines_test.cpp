// Lines that wait on disk are printed once, in their order.

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "memory/deferred_lines.hpp"
#include "memory/exact_lines.hpp"

namespace {

using bloomset::hash64;
using namespace bloomset::cli;

template <class Lines, class... Memory>
std::string printed(Lines& lines, Memory... memory) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::tmpfile(), std::fclose);
  {
    output out(::fileno(file.get()));
    EXPECT_TRUE(lines.choose_new(memory...));
    EXPECT_TRUE(lines.print(out));
    EXPECT_TRUE(out.flush());
  }
  std::string text(static_cast<std::size_t>(::lseek(::fileno(file.get()), 0, SEEK_END)), '\0');
  EXPECT_EQ(::pread(::fileno(file.get()), text.data(), text.size(), 0),
            static_cast<ssize_t>(text.size()));
  return text;
}

TEST(deferred_lines, a_line_is_new_if_one_of_its_keys_is_or_if_it_has_none) {
  auto lines = deferred_lines::make(0, '\0');
  ASSERT_TRUE(lines);
  const std::array<hash64, 3> keys = {hash64{0}, hash64{1}, hash64{UINT64_MAX}};
  const std::span<const hash64> all = keys;
  ASSERT_TRUE(lines->add("both", all.first(2)));
  ASSERT_TRUE(lines->add("again", all.first(1)));
  ASSERT_TRUE(lines->add("", {}));
  ASSERT_TRUE(lines->add("one more\n", all.subspan(1)));
  ASSERT_TRUE(lines->add("", {}));
  ASSERT_TRUE(lines->add("all", all));
  EXPECT_EQ(printed(*lines), std::string("both\0\0one more\n\0\0", 17));
}

TEST(deferred_lines, as_a_set_does_whatever_the_hashes_and_lengths) {
  auto lines = deferred_lines::make(0, '\n');
  ASSERT_TRUE(lines);
  std::set<std::uint64_t> seen;
  std::string expected;
  std::uint64_t state = 1;
  for (std::uint64_t i = 0; i < 170'000; ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    // Two in three hashes are in one part, with equal last bits.
    const hash64 h{i % 3 == 0 ? (state >> 46) << 46 : (state >> 46) << 32};
    const std::string line =
        std::to_string(h.value) + std::string(i % 50'000 == 7 ? 2'000'000 : 0, 'x');
    ASSERT_TRUE(lines->add(line, {&h, 1}));
    if (seen.insert(h.value).second) expected += line + '\n';
  }
  EXPECT_GT(seen.size(), 100'000U);
  EXPECT_TRUE(printed(*lines) == expected);
}

TEST(exact_lines, equal_hashes_and_too_little_memory_change_nothing) {
  auto lines = exact_lines::make(0, '\n');
  ASSERT_TRUE(lines);
  std::set<std::string> seen;
  std::string expected;
  std::uint64_t state = 1;
  for (std::uint64_t i = 0; i < 60'000; ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    // Lines of two keys. Every 16 keys have one hash, and most hashes are in one group.
    const std::array<std::string, 2> keys = {std::to_string(state >> 50),
                                             std::to_string(state >> 49)};
    std::vector<hashed_key> hashed;
    bool is_new = false;
    for (const std::string& key : keys) {
      const std::uint64_t n = std::stoull(key) / 16;
      hashed.push_back({hash64{n * 0x9e3779b97f4a7c15 >> (n % 3 == 0 ? 0 : 8)}, key});
      is_new |= seen.insert(key).second;
    }
    const std::string line = std::to_string(i) + std::string(i % 20'000 == 7 ? 2'000'000 : 0, 'x');
    ASSERT_TRUE(lines->add(line, hashed));
    if (is_new) expected += line + '\n';
  }
  ASSERT_TRUE(lines->add("no key", {}));
  EXPECT_GT(seen.size(), 30'000U);
  EXPECT_TRUE(printed(*lines, std::size_t{0}) == expected + "no key\n");
}

TEST(deferred_lines, nothing_prints_nothing) {
  auto lines = deferred_lines::make(0, '\n');
  ASSERT_TRUE(lines);
  EXPECT_EQ(printed(*lines), "");
}

}  // namespace
