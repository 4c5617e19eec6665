// Labels: what may be one, and what becomes of them when filters are stored, copied and combined.

#include <gtest/gtest.h>

#include <bloomset/bloomset.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/filter_types.hpp"
#include "tests/support/stored_bytes.hpp"

namespace bloomset::test {
namespace {

label_list labels_of(std::initializer_list<label_list::label> pairs) {
  label_list labels;
  for (const auto& [name, value] : pairs) value_of(labels.set(name, value));
  return labels;
}

TEST(labels, names_and_values_are_short_printable_texts) {
  label_list labels;
  for (const std::string_view name : {"a", "keys", "key-bytes", "a.b_c-9"}) {
    EXPECT_TRUE(labels.set(name, "x")) << name;
  }
  EXPECT_TRUE(labels.set(std::string(64, 'a'), "x"));
  for (const std::string& name :
       {std::string(), std::string("A"), std::string("9a"), std::string("a b"), std::string("a="),
        std::string("ä"), std::string("a\n"), std::string(65, 'a')}) {
    EXPECT_EQ(labels.set(name, "x").error().code, errc::invalid_argument) << name;
  }
  for (const std::string_view value : {" ", "a=b", "Zoë", "\u00a0", "\ufffd", "\U0010ffff"}) {
    EXPECT_TRUE(labels.set("a", value)) << value;
    EXPECT_EQ(labels.find("a"), value);
  }
  using namespace std::string_view_literals;
  for (const std::string_view value :
       {""sv, "a\nb"sv, "\0"sv, "\x1b[0m"sv, "\x7f"sv, "\xc2\x9b"sv, "\xff"sv, "\xc3"sv,
        "\xc0\x80"sv, "\xed\xa0\x80"sv, "\xf4\x90\x80\x80"sv, "\xe2\x82"sv, "\x80"sv}) {
    const label_list before = labels;
    EXPECT_EQ(labels.set("a", value).error().code, errc::invalid_argument);
    EXPECT_EQ(labels, before);
  }
}

TEST(labels, all_together_have_a_limit) {
  label_list labels;
  EXPECT_TRUE(labels.set("a", std::string(label_list::max_bytes - 3, 'x')));
  EXPECT_EQ(labels.text().size(), label_list::max_bytes);
  EXPECT_FALSE(labels.set("b", "y"));
  EXPECT_FALSE(labels.set("a", std::string(label_list::max_bytes - 2, 'x')));
  EXPECT_TRUE(labels.set("a", "short"));
  EXPECT_TRUE(labels.set("b", "y"));
}

TEST(labels, the_stored_text_is_the_only_one_for_its_labels) {
  const label_list labels = labels_of({{"b", "2"}, {"a", "1=1"}, {"b", "3"}});
  EXPECT_EQ(labels.text(), "a=1=1\nb=3\n");
  EXPECT_EQ(value_of(label_list::parse(labels.text())), labels);
  for (const std::string_view text : {"a=1", "a\n", "=1\n", "a=\n", "b=1\na=1\n", "a=1\na=1\n",
                                      "a=1\n\n", "A=1\n", "a=1\r\n", "\n"}) {
    EXPECT_EQ(label_list::parse(text).error().code, errc::corrupt) << text;
  }
}

TEST(labels, go_with_the_filter_of_every_kind) {
  const label_list labels = labels_of({{"source", "x"}, {"keys", "sha1"}});
  for (const kind_info& kind : kinds()) {
    for (const unsigned bits : {64U, 128U}) {
      if (bits == 128 && !kind.takes_128_bits) continue;
      any_filter filter =
          filter_of(kind, {.capacity = 100, .fpr = 0.01, .hash_bits = bits}, words("member", 100));
      const auto plain = serialize(filter.image());
      filter.labels() = labels;
      const auto bytes = serialize(filter.image());
      EXPECT_EQ(bytes.size(), serialized_size(filter.image()));
      EXPECT_EQ(bytes.size(), plain.size() + 64) << kind.name;
      const auto stored =
          value_of(read_stored(mapped_storage(nullptr, bytes), verification::always, "f"));
      EXPECT_EQ(stored.header.labels, labels);
      for (const access how : {access::read_only, access::writable}) {
        any_filter again = value_of(open_any(stored, how, "f"));
        EXPECT_EQ(again.labels(), labels);
        EXPECT_EQ(value_of(again.copy()).labels(), labels);
        EXPECT_EQ(again.info().labels, labels);
        EXPECT_EQ(serialize(again.image()), bytes);
        for (const std::string& word : words("member", 100)) EXPECT_TRUE(again.may_contain(word));
        again.labels() = {};
        EXPECT_EQ(serialize(again.image()), plain);
      }
      if (kind.can.fold && bits == 64) {
        EXPECT_EQ(value_of(filter.fold_to(0.5)).labels(), labels);
      }
    }
  }
}

TEST(labels, of_a_union_are_those_that_all_have) {
  for (const kind_info& kind : kinds()) {
    if (!kind.can.merge) continue;
    const auto made = [&kind](const char* word, std::uint64_t count, label_list labels) {
      any_filter filter = filter_of(kind, {.capacity = 100, .fpr = 0.01}, words(word, count));
      filter.labels() = std::move(labels);
      return filter;
    };
    any_filter all = made("a", 0, labels_of({{"source", "nothing"}}));
    value_of(
        all.merge(made("a", 9, labels_of({{"source", "x"}, {"keys", "sha1"}, {"date", "1"}}))));
    EXPECT_EQ(all.labels(), labels_of({{"source", "x"}, {"keys", "sha1"}, {"date", "1"}}));
    value_of(
        all.merge(made("b", 9, labels_of({{"source", "x"}, {"keys", "sha1"}, {"date", "2"}}))));
    EXPECT_EQ(all.labels(), labels_of({{"source", "x"}, {"keys", "sha1"}}));
    value_of(all.merge(made("b", 0, {})));
    EXPECT_EQ(all.labels(), labels_of({{"source", "x"}, {"keys", "sha1"}}));
    value_of(merge_folded(all, made("c", 9, labels_of({{"source", "y"}}))));
    EXPECT_TRUE(all.labels().empty());
  }
}

TEST(labels, a_section_that_does_not_fit_is_refused) {
  any_filter filter =
      filter_of(*value_of(find_kind("bloom")), {.capacity = 9, .fpr = 0.01}, words("member", 9));
  filter.labels() = labels_of({{"source", "x"}});
  const auto good = serialize(filter.image());
  const std::size_t end =
      at::parameters + detail::load<std::uint32_t>(good.data() + at::parameter_bytes);
  const auto opens = [](const std::vector<std::byte>& bytes) {
    return read_stored(mapped_storage(nullptr, bytes), verification::always, "f").has_value();
  };
  EXPECT_TRUE(opens(good));
  for (const std::uint32_t length : {0U, 8U, 10U, 60U, 61U, 124U, 4092U, 4093U, ~0U}) {
    EXPECT_FALSE(opens(forged(good, end - 4, length))) << length;
  }
  EXPECT_FALSE(opens(forged(good, end - 5, '\1')));  // not zero behind the text
  // The flag without a section.
  const auto plain = forged(good, at::flags, std::uint32_t{0});
  EXPECT_TRUE(opens(plain));
  auto stored = value_of(read_stored(mapped_storage(nullptr, plain), verification::always, "f"));
  EXPECT_FALSE(open_any(stored, access::read_only, "f"));
}

}  // namespace
}  // namespace bloomset::test
