// The walks of bloomset explain show the bits that the library sets.

#include <gtest/gtest.h>

#include <algorithm>
#include <bloomset/bloom.hpp>
#include <string>

#include "teach/hash_family.hpp"
#include "teach/text/drawing.hpp"
#include "teach/text/text.hpp"

namespace {

using namespace bloomset::teach;  // NOLINT(google-build-using-namespace)

template <class Rule>
void same_bits_as_a_filter_of_the_rule() {
  constexpr std::uint64_t m = 1000;
  constexpr unsigned k = 5;
  const auto family = named_family(Rule::name, k);
  ASSERT_TRUE(family) << family.error().message;
  auto taught =
      bloomset::basic_bloom<family_rule>::make({.bits = m, .hashes = k}, family_rule{*family});
  ASSERT_TRUE(taught) << taught.error().message;
  bloomset::basic_bloom<Rule> plain({.bits = m, .hashes = k});
  for (int i = 0; i < 50; ++i) {
    const std::string word = "word" + std::to_string(i);
    taught->insert(word);
    plain.insert(word);
  }
  EXPECT_GT(plain.ones(), 150U);
  EXPECT_TRUE(std::ranges::equal(taught->bits(), plain.bits())) << Rule::name;
}

TEST(explain, named_families_give_the_bits_of_their_rules) {
  same_bits_as_a_filter_of_the_rule<bloomset::double_hashing>();
  same_bits_as_a_filter_of_the_rule<salted_hashing>();
  same_bits_as_a_filter_of_the_rule<md5_hashing>();
  same_bits_as_a_filter_of_the_rule<fnv_murmur_hashing>();
}

TEST(explain, a_short_array_is_drawn_under_its_indices) {
  strip bits{.label = "bit", .cells = {0, 1, 1, 0}, .marks = {}};
  bits.marks = {mark::none, mark::raised, mark::kept, mark::none};
  EXPECT_EQ(draw(bits, palette(false)),
            "  bit    0  1  2  3\n"
            "         0  1  1  0\n"
            "            +  =\n");
}

TEST(explain, a_longer_one_in_groups_of_ten) {
  strip bits{.label = "bit", .cells = std::vector<unsigned>(65), .marks = std::vector<mark>(65)};
  bits.cells[63] = 1;
  bits.marks[63] = mark::queried;
  EXPECT_EQ(draw(bits, palette(false)),
            "  bit  0          +10        +20        +30        +40        +50\n"
            "  0    0000000000 0000000000 0000000000 0000000000 0000000000 0000000000\n"
            "  60   00010\n"
            "          ^\n");
}

TEST(explain, no_line_is_wider_than_a_terminal) {
  for (const std::size_t m :
       {1U, 9U, 10U, 11U, 23U, 24U, 25U, 26U, 59U, 60U, 61U, 100U, 1001U, 4096U}) {
    for (const unsigned max_value : {1U, 15U, 255U, 65535U}) {
      const strip cells{.label = max_value == 1 ? "bit" : "counter",
                        .cells = std::vector<unsigned>(m, max_value),
                        .marks = std::vector<mark>(m, mark::kept),
                        .max_value = max_value,
                        .all_rows = true};
      const std::string text = draw(cells, palette(false));
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        ASSERT_LE(end - at, 80U) << m << " cells up to " << max_value;
        at = end + 1;
      }
      EXPECT_EQ(std::ranges::count(text, '='), static_cast<std::ptrdiff_t>(m));
    }
  }
}

TEST(explain, wraps_at_eighty_columns_and_counts_characters_not_bytes) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "\xc3\xa9\xc3\xa9\xc3\xa9 ";
  const std::string lines = wrapped(text, 2, 4);
  EXPECT_EQ(width_of(lines.substr(0, lines.find('\n'))), 80U - 3);  // 2 + 19 words of 4, less 1
  EXPECT_EQ(wrapped("a b", 2, 4), "  a b\n");
}

TEST(explain, text_from_outside_cannot_steer_the_terminal) {
  EXPECT_EQ(printable("a\x1b[2Jb\n\x7f"), "a\\x1b[2Jb\\x0a\\x7f");
  EXPECT_EQ(printable("h\xc3\xa9llo"), "h\xc3\xa9llo");
}

}  // namespace
