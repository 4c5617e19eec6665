// Damaged or malicious bytes of other programs' formats are refused with a sentence that names the
// file, or give a filter that can be used. Memory is in proportion to the bytes.

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <bloomset/detail/core/bits.hpp>
#include <bloomset/dialects/dialect.hpp>
#include <random>
#include <set>

#include "tests/support/dialect_samples.hpp"

namespace bloomset::test {
namespace {

namespace d = bloomset::dialects;

void expect_sentence(const failure& why) {
  EXPECT_TRUE(why.message.starts_with("some/file: ")) << why.message;
  EXPECT_GT(why.message.size(), 25U) << why.message;
  EXPECT_EQ(why.message.find('\n'), std::string::npos) << why.message;
  EXPECT_NE(why.message.back(), '.') << why.message;
  EXPECT_NE(why.code, errc::out_of_memory) << why.message;
}

/// Opens the bytes, which have an allocation of their own, and uses the filter in every way.
/// Returns whether the bytes were accepted.
bool open_and_use(const std::vector<std::byte>& bytes, const d::dialect& row,
                  const d::option_list& options) {
  (void)d::recognise(bytes);
  bool taken = false;
  for (const access how : {access::read_only, access::writable}) {
    auto filter = d::open(row, mapped_storage(nullptr, bytes),
                          {.name = "some/file", .how = how, .options = options});
    if (!filter) {
      expect_sentence(filter.error());
      continue;
    }
    taken = true;
    const std::array<std::string_view, 5> keys = {"1", "22", "", "333", "16 bytes of hash"};
    std::array<bool, 5> answers{};
    filter->may_contain(keys, answers);
    (void)filter->info();
    (void)filter->insert(keys);
    (void)filter->insert(std::span(keys).last(1));
    (void)filter->convert(row, {});
    (void)filter->image();
  }
  return taken;
}

class hostile_dialect : public ::testing::TestWithParam<dialect_sample> {
 protected:
  const dialect_sample sample_ = GetParam();
  const d::dialect& row_ = *d::find(sample_.format).value();

  bool use(const std::vector<std::byte>& bytes) const {
    return open_and_use(bytes, row_, sample_.reading);
  }
};

TEST_P(hostile_dialect, every_truncation_is_found_where_a_length_is_stored) {
  for (std::size_t size = 0; size < sample_.bytes.size(); ++size) {
    const std::vector<std::byte> start(sample_.bytes.begin(),
                                       sample_.bytes.begin() + static_cast<std::ptrdiff_t>(size));
    const bool taken = use(start);
    // A LevelDB filter is as long as it is; what remains may end in a small number. A cascade may
    // end after any layer.
    if (sample_.format != "leveldb" && sample_.format != "cascade") {
      ASSERT_FALSE(taken) << size;
    }
  }
}

TEST_P(hostile_dialect, nothing_may_follow_but_data_and_zeros_after_gzip) {
  for (const std::size_t more : {std::size_t{1}, std::size_t{8}, std::size_t{4096}}) {
    for (const std::byte filling : {std::byte{0}, std::byte{0xff}}) {
      auto longer = sample_.bytes;
      longer.resize(longer.size() + more, filling);
      const bool may = sample_.name == "dcso" || sample_.format == "poppy" ||
                       (sample_.name == "dcso_gzip" && filling == std::byte{0});
      EXPECT_EQ(use(longer), may) << more;
    }
  }
}

// The values that break size arithmetic, at every place of the header and trailer.
TEST_P(hostile_dialect, absurd_numbers_are_refused_or_harmless) {
  constexpr std::array words = {
      std::uint64_t{0},
      std::uint64_t{1},
      std::uint64_t{0x7f},
      std::uint64_t{0x80000000},
      std::uint64_t{0xffffffff},
      std::uint64_t{1} << 58,
      std::uint64_t{1} << 63,
      ~std::uint64_t{0},
      ~std::uint64_t{0} - 63,
      std::bit_cast<std::uint64_t>(-1.0),
      std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN())};
  const std::size_t size = sample_.bytes.size();
  for (std::size_t at = 0; at < size;
       at = at == 160 ? std::max<std::size_t>(161, size - 16) : at + 1) {
    std::set<std::vector<std::byte>> used;
    for (const std::uint64_t word : words) {
      for (std::size_t width = 1; width <= 8; width *= 2) {
        if (at + width > size) continue;
        for (const bool reversed : {false, true}) {
          auto bytes = sample_.bytes;
          for (std::size_t i = 0; i < width; ++i) {
            const std::size_t byte = reversed ? width - 1 - i : i;
            bytes[at + i] = static_cast<std::byte>(word >> (8 * byte) & 0xff);
          }
          if (used.insert(bytes).second) use(bytes);
        }
      }
    }
  }
}

TEST_P(hostile_dialect, random_changes_are_refused_or_harmless) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 500; ++round) {
    auto bytes = sample_.bytes;
    for (int change = 0; change < 1 + round % 8; ++change) {
      bytes[random() % (round % 2 == 0 ? std::min<std::size_t>(bytes.size(), 64) : bytes.size())] =
          static_cast<std::byte>(random());
    }
    use(bytes);
  }
  use(std::vector<std::byte>(sample_.bytes.size(), std::byte{0xff}));
  use(std::vector<std::byte>(sample_.bytes.size()));
}

TEST_P(hostile_dialect, bytes_of_another_format_are_refused) {
  for (const dialect_sample& other : dialect_samples()) {
    if (other.format == sample_.format) continue;
    const bool taken = use(other.bytes);
    if (sample_.format != "leveldb") {
      EXPECT_FALSE(taken) << other.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(dialects, hostile_dialect, ::testing::ValuesIn(dialect_samples()),
                         [](const auto& test) { return test.param.name; });

TEST(hostile_spark, other_versions_and_numbers_of_functions_are_named) {
  const auto says = [](std::size_t at, unsigned byte) {
    auto bytes = sample("spark").bytes;
    bytes[at] = static_cast<std::byte>(byte);
    const auto opened = d::open(*d::find("spark").value(), mapped_storage(nullptr, bytes));
    return opened ? std::string() : opened.error().message;
  };
  EXPECT_EQ(says(3, 3), "the filter: its version is 3, and 1 and 2 are known");
  EXPECT_EQ(says(7, 0), "the filter: its header says 0 hash functions; 1 to 255 are supported");
  EXPECT_EQ(says(6, 1), "the filter: its header says 261 hash functions; 1 to 255 are supported");
}

TEST(hostile_dcso, a_flipped_bit_of_gzip_is_found) {
  const auto good = [] {
    for (const auto& each : dialect_samples()) {
      if (each.name == "dcso_gzip") return each.bytes;
    }
    return std::vector<std::byte>();
  }();
  const auto& row = *d::find("dcso").value();
  std::size_t taken = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    auto bytes = good;
    bytes[i] ^= std::byte{0x10};
    taken += open_and_use(bytes, row, {}) ? 1 : 0;
  }
  // Of gzip's ten bytes of header some mean nothing to a reader: time, flags of the system.
  EXPECT_LT(taken, 10U);
}

TEST(hostile_dcso, what_unpacks_to_much_is_no_more_than_its_filter) {
  // 4 MiB of zeros behind a filter's header are 4 KiB of gzip.
  auto filter = d::create(*d::find("dcso").value(),
                          {.capacity = 3'500'000, .fpr = 0.01, .options = {{"gzip", "yes"}}})
                    .value();
  const auto bytes = filter.image()->bytes();
  ASSERT_LT(bytes.size(), 10'000U);
  const auto opened = d::open(mapped_storage(nullptr, bytes));
  ASSERT_TRUE(opened);
  EXPECT_FALSE(opened->may_contain("x"));
}

// A Parquet file by hand: a footer with one column chunk whose filter stands at the front.
std::vector<std::byte> parquet_file(std::string_view footer_hex, std::string_view filter_hex) {
  auto bytes = from_hex("50415231");
  const auto filter = from_hex(filter_hex);
  bytes.insert(bytes.end(), filter.begin(), filter.end());
  const auto footer = from_hex(footer_hex);
  bytes.insert(bytes.end(), footer.begin(), footer.end());
  std::array<std::byte, 4> length{};
  detail::store(length.data(), static_cast<std::uint32_t>(footer.size()));
  bytes.insert(bytes.end(), length.begin(), length.end());
  const auto end = from_hex("50415231");
  bytes.insert(bytes.end(), end.begin(), end.end());
  return bytes;
}

// version 1; schema [{name "r", num_children 1}, {type 6, name "c"}]; row_groups [{columns
// [{file_offset 0, meta_data {type 6, path ["c"], bloom_filter_offset 4}}], num_rows 1}].
constexpr std::string_view footer =
    "1502"      // 1: i32 1
    "192c"      // 2: a list of two structures
    "480172"    // 4: "r"
    "1502"      // 5: i32 1
    "00"        // end of the root
    "150c"      // 1: i32 6, BYTE_ARRAY
    "380163"    // 4: "c"
    "00"        // end of the column
    "291c"      // 4: a list of one structure
    "191c"      // 1: a list of one structure
    "2600"      // 2: i64 0
    "1c"        // 3: a structure
    "150c"      // 1: i32 6, BYTE_ARRAY
    "29180163"  // 3: a list of one string, "c"
    "b608"      // 14: i64 4
    "00"        // end of the metadata
    "00"        // end of the column chunk
    "2602"      // 3: i64 1
    "00"        // end of the row group
    "00";       // end of all
const std::string filter_of_one_block = "15401c1c00001c1c00001c1c000000" + std::string(64, 'f');

TEST(parquet_file, a_column_is_found_by_its_path) {
  const auto bytes = parquet_file(footer, filter_of_one_block);
  const auto filter =
      d::open(mapped_storage(nullptr, bytes), {.name = "f", .options = {{"column", "c"}}});
  ASSERT_TRUE(filter) << filter.error().message;
  EXPECT_TRUE(filter->may_contain("anything"));
  EXPECT_EQ(filter->info().bits, 256U);
  EXPECT_EQ(filter->image().error().code, errc::unsupported);
  const auto bare = filter->convert(filter->format(), {});
  ASSERT_TRUE(bare);
  EXPECT_EQ(to_hex(bare->image()->bytes()), filter_of_one_block);
  for (const d::option_list& wrong :
       {d::option_list{}, d::option_list{{"column", "d"}}, d::option_list{{"type", "bytes"}}}) {
    EXPECT_FALSE(d::open(mapped_storage(nullptr, bytes), {.name = "f", .options = wrong}));
  }
}

TEST(parquet_file, the_columns_to_choose_from_are_all_counted) {
  const auto names_of = [](int columns) {
    // As `footer`, with the columns a, b and so on, and the first of them twice.
    std::string text = "1502192c480172150200150c38016300291c19" + fmt::format("{:x}c", columns + 1);
    for (int i = 0; i <= columns; ++i) {
      text += fmt::format("26001c150c291801{:02x}b6080000", 'a' + i % columns);
    }
    const auto bytes = parquet_file(text + "26020000", filter_of_one_block);
    const auto opened = d::open(mapped_storage(nullptr, bytes), {.name = "f"});
    EXPECT_FALSE(opened);
    return opened ? std::string() : opened.error().message;
  };
  const std::string ten =
      "name one with --column (these columns have one: 'a', 'b', 'c', 'd', "
      "'e', 'f', 'g', 'h', 'i', 'j'";
  EXPECT_NE(names_of(10).find(ten + ")"), std::string::npos) << names_of(10);
  EXPECT_NE(names_of(13).find(ten + " and 3 more)"), std::string::npos) << names_of(13);
}

// The same with a column of that physical type, whose schema element ends in those fields, and a
// filter of all bits.
result<d::foreign_filter> column_of_type(unsigned physical, std::string_view more_hex,
                                         std::string_view path = "c") {
  const std::string type = fmt::format("15{:02x}", physical * 2);
  const std::string text = "1502192c480172150200" + type + "380163" + std::string(more_hex) + "00" +
                           "291c191c26001c" + type + "29180163b6080000260200" + "00";
  static std::vector<std::byte> bytes;
  bytes = parquet_file(text, filter_of_one_block);
  return d::open(mapped_storage(nullptr, bytes),
                 {.name = "f", .options = {{"column", std::string(path)}}});
}

struct typed_column {
  std::string_view what;
  unsigned physical;
  std::string_view fields;  // after the name
  std::vector<std::string_view> taken;
  std::vector<std::string_view> refused;
  std::string_view says;
};

TEST(parquet_file, keys_are_what_the_schema_says_of_the_column) {
  const std::vector<typed_column> columns = {
      {"INT32", 1, "", {"5", "-5"}, {"", "x", "4000000005", "5.0"}, "whole number of 32 bits"},
      {"UINT_32", 1, "251a", {"4000000005", "0"}, {"-1", "4294967296"}, "without a sign"},
      {"INTEGER(32, no sign)", 1, "6cac1320120000", {"4000000005"}, {"-1"}, "without a sign"},
      {"INTEGER(64, sign)", 2, "6cac1340110000", {"-1"}, {"18446744073709550005"}, "64 bits"},
      {"UINT_64", 2, "251c", {"18446744073709550005"}, {"-1", "1e3"}, "without a sign"},
      {"DATE",
       1,
       "250c",
       {"2020-02-29", "1969-12-31", "-1"},
       {"2021-02-29", "2020-1-5", "x"},
       "YYYY-MM-DD"},
      {"DECIMAL(9, 2)",
       1,
       "250a15041512",
       {"0.05", "-3", ".5", "1.500", "21474836.47"},
       {"0.055", "21474836.48", "-", ".", "", "1e3", "1.2.3"},
       "scale 2"},
      {"DECIMAL of scale 19", 2, "250a1526", {}, {"1"}, "a DECIMAL of a size or scale that is not"},
      {"DECIMAL in bytes",
       6,
       "250a150415f0ffff03",  // of a precision that bounds the size
       {"0.05", "-3", "170141183460469231731687303715884105727"},
       {"0.055", "1e3", "x"},
       "a DECIMAL of scale 2 in up to 250 bytes"},
      {"DECIMAL in bytes of unknown precision",
       6,
       "250a1504",
       {"1701411834604692317316873037158841057.27"},
       {"1701411834604692317316873037158841057.28"},
       "up to 16 bytes; give a number that fits"},
      {"FLOAT", 4, "", {"0", "nan", "1e30", "-inf"}, {"1e39", "x", "1,5"}, "give a number"},
      {"TIME_MILLIS", 1, "250e", {"5000"}, {"00:00:05"}, "a TIME in milliseconds since midnight"},
      {"TIMESTAMP(nanoseconds)",
       2,
       "6c8c111c3c00000000",
       {"5"},
       {"2020-01-01T00:00:05"},
       "a TIMESTAMP in nanoseconds since 1970; give that integer"},
      {"STRING", 6, "2500", {"", "x"}, {}, ""},
      {"unknown logical type", 6, "6c0c280000", {}, {"x"}, "a logical type that is not known"},
      {"DATE in 64 bits", 2, "250c", {}, {"1"}, "that its physical type does not have"},
  };
  for (const typed_column& column : columns) {
    const auto filter = column_of_type(column.physical, column.fields);
    ASSERT_TRUE(filter) << column.what << filter.error().message;
    EXPECT_TRUE(filter->stores_key_type());
    for (const std::string_view key : column.taken) {
      EXPECT_TRUE(filter->askable() && filter->accepts(key)) << column.what << key;
      EXPECT_TRUE(filter->may_contain(key)) << column.what << key;
    }
    for (const std::string_view key : column.refused) {
      const auto why = column.taken.empty() ? filter->askable() : filter->accepts(key);
      ASSERT_FALSE(why) << column.what << ' ' << key;
      EXPECT_NE(why.error().message.find("column 'c' "), std::string::npos) << why.error().message;
      EXPECT_NE(why.error().message.find(column.says), std::string::npos) << why.error().message;
    }
  }
}

TEST(parquet_file, values_of_fixed_size_take_keys_of_that_size) {
  // type_length stands before the name, so that the whole element is another.
  const auto at = [](std::string_view more_hex) {
    const auto bytes = parquet_file("1502192c480172150200150e1520280163" + std::string(more_hex) +
                                        "00291c191c26001c150e29180163b608000026020000",
                                    filter_of_one_block);
    const auto filter =
        d::open(mapped_storage(nullptr, bytes), {.name = "f", .options = {{"column", "c"}}});
    return filter && filter->accepts("0123456789abcdef") && !filter->accepts("0123") ? 16
           : filter && filter->accepts("00000000-0000-4000-8000-00000000000F")       ? 36
                                                                                     : 0;
  };
  EXPECT_EQ(at(""), 16);
  EXPECT_EQ(at("6cec0000"), 36);  // UUID
}

TEST(parquet_file, decimals_and_halves_have_their_sizes) {
  // As above, with a type_length of that many bytes.
  const auto column = [](std::string_view length_hex, std::string_view more_hex) {
    const auto bytes =
        parquet_file("1502192c480172150200150e15" + std::string(length_hex) + "280163" +
                         std::string(more_hex) + "00291c191c26001c150e29180163b608000026020000",
                     filter_of_one_block);
    return d::open(mapped_storage(nullptr, bytes), {.name = "f", .options = {{"column", "c"}}});
  };
  constexpr std::string_view scale_2 = "250a1504";
  const auto one = column("02", scale_2);
  ASSERT_TRUE(one && one->askable());
  EXPECT_TRUE(one->accepts("1.27") && one->accepts("-1.28") && one->accepts("-0"));
  EXPECT_FALSE(one->accepts("1.28") || one->accepts("-1.29") || one->accepts("2.56"));
  const auto most = column("8004", scale_2);  // 256 bytes
  EXPECT_TRUE(most && most->accepts(std::string(600, '9')));
  EXPECT_FALSE(most->accepts(std::string(100'000, '9')));
  for (const std::string_view length : {"00", "01", "8204", "feffffff0f"}) {
    const auto other = column(length, scale_2);
    EXPECT_FALSE(other && other->askable()) << length;
  }
  EXPECT_FALSE(column("02", "250a15feffffff0f")->askable());  // a scale of 2^31 - 1
  const auto half = column("04", "6cfc0000");                 // FLOAT16
  ASSERT_TRUE(half && half->askable());
  EXPECT_TRUE(half->accepts("65504") && half->accepts("1e-9") && half->accepts("nan"));
  EXPECT_FALSE(half->accepts("1e5") || half->accepts("x"));
  EXPECT_FALSE(column("08", "6cfc0000")->askable());
}

TEST(parquet_file, any_change_of_the_footer_is_refused_or_harmless) {
  const auto good = parquet_file(footer, filter_of_one_block);
  const auto& row = *d::find("parquet").value();
  const d::option_list column = {{"column", "c"}};
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (unsigned value = 0; value < 256; ++value) {
      auto bytes = good;
      bytes[i] = static_cast<std::byte>(value);
      open_and_use(bytes, row, column);
    }
  }
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(open_and_use({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)}, row,
                              column));
  }
}

TEST(parquet_file, structures_within_structures_have_an_end) {
  // Field 9, a structure, which begins with field 9, a structure, ...
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "9c";
  EXPECT_FALSE(open_and_use(parquet_file(deep, filter_of_one_block), *d::find("parquet").value(),
                            {{"column", "c"}}));
  std::string lists;
  for (int i = 0; i < 100'000; ++i) lists += i == 0 ? "9919" : "19";
  EXPECT_FALSE(open_and_use(parquet_file(lists, filter_of_one_block), *d::find("parquet").value(),
                            {{"column", "c"}}));
}

}  // namespace
}  // namespace bloomset::test
