// Lines that wait on disk are printed once, in their order.

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <deferred_lines.hpp>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace {

using bloomset::hash64;
using namespace bloomset::cli;

std::string printed(deferred_lines& lines) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::tmpfile(), std::fclose);
  {
    output out(::fileno(file.get()));
    EXPECT_TRUE(lines.choose_new());
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

TEST(deferred_lines, nothing_prints_nothing) {
  auto lines = deferred_lines::make(0, '\n');
  ASSERT_TRUE(lines);
  EXPECT_EQ(printed(*lines), "");
}

}  // namespace
