// New lines of all inputs are printed once and in their order, by any number of threads.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "filters/new_lines.hpp"
#include "tests/support/input_files.hpp"

namespace {

using namespace bloomset::cli;

class new_lines_of : public bloomset::test::input_files {
 protected:
  struct printed {
    std::string text;
    std::string failure;
    std::uint64_t dropped = 0;
    bool waited = false;
  };
  static printed print(const input_options& options, unsigned threads,
                       memory_limit memory = {.bytes = 1 << 30, .given = false},
                       double fpr = 1e-9) {
    const std::unique_ptr<FILE, int (*)(FILE*)> to(std::tmpfile(), std::fclose);
    printed done;
    {
      auto input = key_input::open(options);
      EXPECT_TRUE(input);
      output out(::fileno(to.get()));
      bloomset::plan_request request;
      request.capacity = 1 << 20;
      request.fpr = fpr;
      auto lines = new_lines::make(**input, request, memory, out, threads);
      EXPECT_TRUE(lines);
      const auto all = (*lines)->print([&](const std::string&) { done.waited = true; });
      if (!all) done.failure = all.error().message;
      if (all) EXPECT_TRUE((*lines)->print_waiting());
      done.dropped = (*lines)->dropped();
    }
    done.text.resize(static_cast<std::size_t>(::lseek(::fileno(to.get()), 0, SEEK_END)));
    EXPECT_EQ(::pread(::fileno(to.get()), done.text.data(), done.text.size(), 0),
              static_cast<ssize_t>(done.text.size()));
    return done;
  }

  /// The lines of a text at their first time. The last one may lack its end.
  static std::string first_times(std::string_view text) {
    std::unordered_set<std::string_view> seen;
    std::string all;
    while (!text.empty()) {
      const auto line = text.substr(0, text.find('\n'));
      if (seen.insert(line).second) (all += line) += '\n';
      text.remove_prefix(std::min(text.size(), line.size() + 1));
    }
    return all;
  }
};

/// Lines of many lengths, half of them repeated: near, and several rounds later.
std::string many_lines(std::uint64_t lines) {
  std::string text;
  std::uint64_t state = 1;
  for (std::uint64_t i = 0; i < lines; ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    const std::uint64_t number = (state >> 40) % (lines / 2);
    text += std::to_string(number) + std::string(number % 150, 'k') + '\n';
  }
  return text;
}

TEST_F(new_lines_of, several_rounds_are_the_same_for_any_number_of_threads) {
  const std::string many = many_lines(500'000);  // 40 MB: three rounds
  const std::string long_line = std::string(2'500'000, 'x') + '\n';
  const std::string more = "a\n\n" + long_line + long_line.substr(1) + "b\n" + long_line + "\n" +
                           many.substr(0, many.find('\n', 3'000'000)) + "\nlast";
  input_options options;
  options.keys.is_blank.keep_empty = true;
  options.names = {file("many", many), file("empty", ""), file("more", more)};
  const std::string expected = first_times(many + more);
  for (const unsigned threads : {1U, 2U, 3U}) {
    const printed got = print(options, threads);
    EXPECT_EQ(got.failure, "");
    EXPECT_TRUE(got.text == expected) << threads << " threads";
  }
}

TEST_F(new_lines_of, drops_the_same_lines_whatever_the_threads_and_no_more_than_promised) {
  std::string text;
  constexpr int lines = 1'000'000;
  for (int i = 0; i < lines; ++i) text += "user" + std::to_string(i) + "@example.com\n";
  input_options options;
  options.names = {file("text", text)};
  const printed one = print(options, 1, {.bytes = 1 << 30, .given = false}, 1e-3);
  const printed three = print(options, 3, {.bytes = 1 << 30, .given = false}, 1e-3);
  EXPECT_TRUE(one.text == three.text);
  EXPECT_EQ(one.dropped, three.dropped);
  EXPECT_GT(one.dropped, 0U);
  EXPECT_LT(one.dropped, lines / 1000);
}

TEST_F(new_lines_of, lines_beyond_the_limit_wait) {
  const std::string many = many_lines(500'000);
  input_options options;
  options.keys.is_blank.keep_empty = true;
  options.names = {file("many", many)};
  for (const unsigned threads : {1U, 3U}) {
    const printed got = print(options, threads, {.bytes = 5 << 19, .given = true});
    EXPECT_TRUE(got.waited);
    EXPECT_TRUE(got.text == first_times(many));
  }
}

TEST_F(new_lines_of, a_wrong_line_ends_it_after_the_lines_before) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) {
    text += R"({"u":"name)" + std::to_string(i % 150'000) + "\",\"n\":1}\n";
  }
  input_options options;
  options.keys.is_blank.keep_empty = true;
  options.keys.reader = "json:/u";
  options.names = {file("text", text + "{\n" + text)};
  for (const unsigned threads : {1U, 2U, 3U}) {
    const printed got = print(options, threads);
    EXPECT_NE(got.failure.find("text:200001: "), std::string::npos) << got.failure;
    EXPECT_TRUE(got.text == first_times(text)) << threads << " threads";
  }
  options.keys.skip_bad = true;
  for (const unsigned threads : {1U, 2U, 3U}) {
    const printed got = print(options, threads);
    EXPECT_EQ(got.failure, "");
    EXPECT_TRUE(got.text == first_times(text)) << threads << " threads";
    EXPECT_EQ(got.dropped, 250'000U);
  }
}

TEST_F(new_lines_of, lines_without_keys_are_printed_each_time) {
  input_options options;
  options.keys.is_blank.keep_empty = true;
  options.keys.is_blank.comments = true;
  options.names = {file("text", "#a\nb\n#a\n\n\nb\nc")};
  EXPECT_EQ(print(options, 2).text, "#a\nb\n#a\n\nc\n");
}

}  // namespace
