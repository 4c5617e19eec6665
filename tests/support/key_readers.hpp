#pragma once

// Common parts of the tests of key readers: making a reader, and reading a record.

#include <gtest/gtest.h>

#include <bloomset/keys/reader.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bloomset::test {

using namespace bloomset::keys;
using namespace std::string_literals;
using bloomset::errc;

inline std::unique_ptr<reader> made(std::string_view text, purpose why = purpose::ask) {
  auto reader = make_reader(text, why);
  if (!reader) {
    ADD_FAILURE() << reader.error().message;
    return nullptr;
  }
  return std::move(*reader);
}

using texts = std::vector<std::string>;

inline texts keys_of(reader& from, std::string_view record) {
  key_list keys;
  const auto ok = from.read(record, keys);
  EXPECT_TRUE(ok) << ok.error().message;
  return {keys.all().begin(), keys.all().end()};
}
inline texts keys_of(std::string_view text, std::string_view record, purpose why = purpose::ask) {
  return keys_of(*made(text, why), record);
}

/// The reader's error for the record, or nothing. After an error nothing may be appended.
inline std::string wrong(reader& from, std::string_view record) {
  key_list keys;
  keys.add("before");
  const auto ok = from.read(record, keys);
  if (ok) return "";
  EXPECT_EQ(keys.size(), 1U);
  EXPECT_LT(ok.error().message.size(), 400U) << "a record of any length makes a short sentence";
  return ok.error().message;
}
inline std::string wrong(std::string_view text, std::string_view record,
                         purpose why = purpose::ask) {
  return wrong(*made(text, why), record);
}

inline std::string refused(std::string_view text) {
  const auto reader = make_reader(text);
  EXPECT_FALSE(reader) << text;
  if (reader) return "";
  EXPECT_EQ(reader.error().code, errc::invalid_argument);
  return reader.error().message;
}

inline std::string bytes(std::string_view digits) {
  return keys_of("hex", digits).at(0);
}

inline bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace bloomset::test
