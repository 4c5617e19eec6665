// The list of figures that every edge shows.

#include <gtest/gtest.h>

#include <bloomset/figures.hpp>
#include <limits>

#include "tests/support/words.hpp"

namespace bloomset::test {
namespace {

TEST(figures, are_valid_json_whatever_they_are) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(to_json({}), "{}");
  EXPECT_EQ(to_json({{"a", std::uint64_t{7}}, {"b", 0.25}, {"c", 1.0}, {"d", 1e-9}, {"e", true}}),
            R"({"a":7,"b":0.25,"c":1.0,"d":1e-09,"e":true})");
  EXPECT_EQ(to_json({{"a", infinity}, {"b", -infinity}, {"c", {}}}),
            R"({"a":null,"b":null,"c":null})");
  EXPECT_EQ(to_json({{"a", std::vector<std::string>{"x", "y"}},
                     {"b", std::vector<property>{{"c", std::string("z")}}}}),
            R"({"a":["x","y"],"b":{"c":"z"}})");
  EXPECT_EQ(to_json({{"a", std::string("\"\\\n\x1f \xC3\xA4 \xF0\x9F\x8C\xB8")}}),
            "{\"a\":\"\\\"\\\\\\n\\u001f \xC3\xA4 \xF0\x9F\x8C\xB8\"}");
  // Not UTF-8: a lone byte, a cut character, a surrogate, a longer form than needed.
  for (const char* text : {"\xFF", "\xC3", "\xED\xA0\x80", "\xC0\x80", "\xF5\x80\x80\x80"}) {
    const std::string json = to_json({{"a", std::string(text)}});
    EXPECT_TRUE(json.starts_with("{\"a\":\"\xEF\xBF\xBD")) << text;
  }
}

TEST(figures, tell_an_overfilled_filter_of_every_kind_that_does_not_grow) {
  for (const kind_info& kind : kinds()) {
    if (!kind.can.insert) continue;
    auto filter = value_of(kind.create({.capacity = 100, .fpr = 0.01}));
    const auto insert = [&](int first, int last) {
      for (int i = first; i < last; ++i) {
        const std::string text = std::to_string(i);
        const std::string_view view = text;
        (void)filter.insert({&view, 1});
      }
    };
    insert(0, 50);
    EXPECT_FALSE(filter.info().overfilled) << kind.name;
    insert(50, 2000);
    const filter_info info = filter.info();
    if (kind.can.grow) {
      EXPECT_FALSE(info.overfilled) << kind.name;
    } else if (info.current_fpr > 2 * info.plan.planned_fpr) {
      EXPECT_TRUE(info.overfilled) << kind.name;
    }
  }
}

TEST(figures, of_a_read_only_filter_are_those_of_the_filter) {
  const kind_info& kind = *value_of(find_kind("bloom"));
  const auto filter = value_of(kind.create({.capacity = 100, .fpr = 0.01}));
  const auto bytes = serialize(filter.image());
  const auto stored = value_of(read_bytes(bytes));
  const auto mapped = value_of(open_any(stored, access::read_only, "memory"));
  EXPECT_FALSE(mapped.can().insert);
  EXPECT_EQ(to_json(figures_of(mapped.info())), to_json(figures_of(filter.info())));
}

}  // namespace
}  // namespace bloomset::test
