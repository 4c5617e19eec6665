// Filters that have only some parts of a set of keys.

#include <gtest/gtest.h>

#include <bloomset/bloomset.hpp>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/filter_types.hpp"

namespace bloomset::test {
namespace {

key_parts parts_of(std::uint64_t of, std::initializer_list<std::uint64_t> numbers) {
  key_parts parts;
  parts.of = of;
  for (const std::uint64_t part : numbers) parts.add(part);
  return parts;
}

TEST(Parts, AFilterThatLacksKeysIsNotOpened) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "part.bloom";
  for (const kind_info& kind : kinds()) {
    if (!kind.can.insert) continue;
    auto filter = value_of(kind.create({.capacity = 100, .fpr = 0.01}));
    value_of(filter.insert(std::vector<std::string_view>{"a"}));
    const auto whole = serialize(filter.image());
    auto image = filter.image();
    const key_parts parts = parts_of(256, {2, 64, 65, 256});
    image.header.parts = parts;
    value_of(write_file(image, path));

    for (const auto& refused : {open(path), load(path)}) {
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, errc::incompatible);
      EXPECT_NE(refused.error().message.find("it lacks the keys of 252 of 256 parts"),
                std::string::npos)
          << refused.error().message;
    }
    EXPECT_FALSE(read_header(serialize_header(image), "part"));
    auto stored = value_of(map_file(path));
    EXPECT_EQ(stored.header.parts, parts);
    stored.header.parts = {};
    EXPECT_EQ(serialize(value_of(open_any(stored, access::read_only, "part")).image()), whole);
  }
  // A filter of a known type.
  blocked_bloom known({.capacity = 100, .fpr = 0.01});
  auto image = known.image();
  image.header.parts = parts_of(2, {2});
  value_of(write_file(image, path));
  EXPECT_EQ(open<blocked_bloom>(path).error().code, errc::incompatible);
  EXPECT_EQ(
      open<blocked_bloom_view>(path).error().message,
      "it lacks the keys of 1 of 2 parts; write the filter of all parts with 'bloomset merge', "
      "and use that");
}

}  // namespace
}  // namespace bloomset::test
