// Text that fits a terminal.

#include <gtest/gtest.h>

#include "terminal/terminal.hpp"

namespace {

using bloomset::cli::fitted;

TEST(fitted, short_lines_stay) {
  EXPECT_EQ(fitted("a b\n\n  c\n", 10), "a b\n\n  c\n");
  EXPECT_EQ(fitted("0123456789\n", 10), "0123456789\n");
}

TEST(fitted, the_last_column_continues_below_itself) {
  EXPECT_EQ(fitted("kind      one two three four five six\n", 32),
            "kind      one two three four\n"
            "          five six\n");
}

TEST(fitted, without_room_there_the_rest_begins_with_the_line) {
  EXPECT_EQ(fitted("  a long first word and  more of them\n", 26),
            "  a long first word and\n"
            "  more of them\n");
  EXPECT_EQ(fitted("a-word-longer-than-the-line b\n", 10), "a-word-longer-than-the-line\nb\n");
}

}  // namespace
