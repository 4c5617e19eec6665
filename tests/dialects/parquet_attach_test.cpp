// Damaged Parquet files get no filters, or filters that can be used: damage is refused with a
// sentence, and nothing is read beyond the bytes.

#include <gtest/gtest.h>

#include <bloomset/dialects/dialect.hpp>
#include <bloomset/dialects/parquet.hpp>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "tests/support/dialect_samples.hpp"

namespace bloomset::test {
namespace {

namespace d = bloomset::dialects;
using file_bytes = std::vector<std::byte>;

result<void> no_codec(std::int64_t, std::span<const std::byte>, std::size_t, file_bytes&) {
  return fail(errc::unsupported, "the samples are not packed");
}

/// The seeds of the fuzz target, by name.
std::map<std::string, file_bytes> samples() {
  std::ifstream lines(BLOOMSET_PARQUET_SAMPLES);
  std::map<std::string, file_bytes> all;
  std::string name;
  std::string digits;
  while (lines >> name >> digits) {
    if (name == "#") {
      std::getline(lines, digits);
    } else {
      all[name] = from_hex(digits);
    }
  }
  return all;
}

std::string column_of(const std::string& sample) {
  return sample == "list_dictionary" ? "c.list.element" : "c";
}

result<file_bytes> attached(std::span<const std::byte> file, const std::string& column) {
  const auto made = d::attach_parquet_filters(
      file, {.columns = {column}, .fpr = 0.01, .replace = true, .unpack = no_codec});
  if (!made) return fail(made.error());
  file_bytes whole(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(made->kept));
  whole.insert(whole.end(), made->appended.begin(), made->appended.end());
  return whole;
}

void expect_one_sentence(const failure& why) {
  EXPECT_GT(why.message.size(), 25U) << why.message;
  EXPECT_EQ(why.message.find('\n'), std::string::npos) << why.message;
  EXPECT_NE(why.message.back(), '.') << why.message;
  EXPECT_NE(why.code, errc::out_of_memory) << why.message;
}

/// The distinct values of a column as text.
result<std::set<std::string>> values_of(const file_bytes& file, const std::string& column) {
  std::set<std::string> values;
  auto ok = d::read_parquet_column(file, column, no_codec,
                                   [&](std::span<const std::string_view> some) -> result<void> {
                                     values.insert(some.begin(), some.end());
                                     return {};
                                   });
  if (!ok) return fail(std::move(ok.error()));
  return values;
}

/// Attaches filters if the file allows it, and reads the values. Otherwise expects a sentence.
bool try_to_attach(const file_bytes& file, const std::string& column) {
  const auto once = attached(file, column);
  const auto values = values_of(file, column);
  if (!values) expect_one_sentence(values.error());
  if (!once) {
    expect_one_sentence(once.error());
    return false;
  }
  const auto again = attached(*once, column);
  EXPECT_TRUE(again) << again.error().message;
  if (again) {
    EXPECT_EQ(attached(*again, column).value(), *again);
  }
  return true;
}

TEST(parquet_attach, every_encoding_gives_its_values) {
  const std::map<std::string, std::vector<std::string>> members = {
      {"list_dictionary", {"a", "b", "c"}},
      {"delta_numbers", {"5", "7", "-100", "1099511627776"}},
      {"delta_prefixes", {"app", "apple", "applet", "b"}},
      {"delta_lengths", {"x", "", "yz"}},
      {"byte_streams", {"1.5", "0", "-0.0"}},
      {"plain_checked", {"one", "two"}}};
  const auto files = samples();
  ASSERT_EQ(files.size(), members.size());
  for (const auto& [name, file] : files) {
    const auto whole = attached(file, column_of(name));
    ASSERT_TRUE(whole) << name << ": " << whole.error().message;
    const auto filter = d::open(*d::find("parquet").value(), mapped_storage(nullptr, *whole),
                                {.options = {{"column", column_of(name)}}});
    ASSERT_TRUE(filter) << name << ": " << filter.error().message;
    for (const std::string& key : members.at(name)) EXPECT_TRUE(filter->may_contain(key)) << key;
    EXPECT_FALSE(filter->may_contain("99")) << name;
  }
}

TEST(parquet_column, values_are_text) {
  const std::map<std::string, std::set<std::string>> expected = {
      {"list_dictionary", {"a", "b", "c"}},
      {"delta_numbers", {"5", "7", "-100", "1099511627776"}},
      {"delta_prefixes", {"app", "apple", "applet", "b"}},
      {"delta_lengths", {"x", "", "yz"}},
      {"plain_checked", {"one", "two"}}};
  const auto files = samples();
  for (const auto& [name, values] : expected) {
    const auto read = values_of(files.at(name), column_of(name));
    ASSERT_TRUE(read) << name << ": " << read.error().message;
    EXPECT_EQ(*read, values) << name;
  }
}

TEST(parquet_column, fractions_have_no_single_text) {
  const auto read = values_of(samples().at("byte_streams"), "c");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, errc::unsupported);
  EXPECT_NE(read.error().message.find("several ways"), std::string::npos) << read.error().message;
}

TEST(parquet_column, a_failure_of_the_visitor_ends_the_reading) {
  const auto read = d::read_parquet_column(samples().at("plain_checked"), "c", no_codec,
                                           [](std::span<const std::string_view>) -> result<void> {
                                             return fail(errc::out_of_memory,
                                                         "there is no room for these values");
                                           });
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, errc::out_of_memory);
}

TEST(parquet_attach, every_truncation_is_refused) {
  for (const auto& [name, file] : samples()) {
    for (std::size_t size = 0; size < file.size(); ++size) {
      const file_bytes start(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
      ASSERT_FALSE(try_to_attach(start, column_of(name))) << name << " " << size;
    }
  }
}

TEST(parquet_attach, every_damaged_byte_is_refused_or_harmless) {
  for (const auto& [name, file] : samples()) {
    for (std::size_t at = 0; at < file.size(); ++at) {
      for (const unsigned change : {0x01U, 0x10U, 0x80U, 0xffU}) {
        file_bytes damaged = file;
        damaged[at] ^= static_cast<std::byte>(change);
        try_to_attach(damaged, column_of(name));
      }
    }
  }
}

// Read as texts the path ends where its column's description does; skipped as numbers, too.
TEST(parquet_attach, a_path_that_is_a_list_of_numbers_is_refused) {
  const auto file = from_hex(
      "504152311504151e151e4c150615001200000100000061010000006201000000631500152215222c150e1510"
      "150615061c0000000200000003320300000003cf1e020384001504194c35001806736368656d611502003502"
      "180163150215064c3c000000350418046c697374150200150c25021807656c656d656e7425004c1c00000016"
      "08191c191c26001c150c193500061019370163046c69737407656c656d656e741500160e1682011682012642"
      "2608292c15041500150200150015101502003c16081926080619460202020800000016820116082608168201"
      "002820706172717565742d6370702d6172726f772076657273696f6e2032362e302e31191c1c000000c00000"
      "0050415231");
  EXPECT_FALSE(try_to_attach(file, "c.list.element"));
}

TEST(parquet_attach, a_page_that_does_not_fit_its_checksum_is_refused) {
  file_bytes file = samples().at("plain_checked");
  const std::string text(reinterpret_cast<const char*>(file.data()), file.size());
  file.at(text.find("two")) ^= std::byte{1};
  const auto made = attached(file, "c");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message,
            "row group 1, column 'c': a page does not fit its checksum; get the file anew");
}

}  // namespace
}  // namespace bloomset::test
