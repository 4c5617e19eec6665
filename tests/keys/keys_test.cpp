// Key readers: their registry, lists of keys, the readers of bytes, fields and digests, and hostile
// records.

#include <rapidcheck.h>

#include "keys/src/utf8.hpp"
#include "tests/support/key_readers.hpp"

namespace bloomset::test {
namespace {

TEST(key_list, keeps_keys_where_they_are_until_it_is_cleared) {
  key_list keys;
  for (int round = 0; round < 3; ++round) {
    texts expected;
    for (int i = 0; i < 5000; ++i) {
      expected.push_back(std::to_string(i) + std::string(static_cast<std::size_t>(i % 97), 'x'));
      keys.add(expected.back());
    }
    expected.emplace_back(200'000, 'y');  // more than a piece of its memory
    keys.add(expected.back());
    expected.emplace_back("last");
    keys.add(expected.back());
    EXPECT_EQ(texts(keys.all().begin(), keys.all().end()), expected);
    keys.truncate(1);
    EXPECT_EQ(keys.all()[0], expected[0]);
    if (round == 1) keys.wipe();
    keys.clear();
    EXPECT_EQ(keys.size(), 0U);
  }
}

TEST(key_list, allocates_nothing_for_a_batch_like_the_one_before) {
  key_list keys;
  std::vector<const char*> places;
  for (int round = 0; round < 4; ++round) {
    std::vector<const char*> now;
    for (int i = 0; i < 10'000; ++i) {
      keys.add("0123456789abcdefghij");
      now.push_back(keys.all().back().data());
    }
    if (round != 0) {
      EXPECT_EQ(now, places);
    }
    places = now;
    keys.clear();
  }
}

TEST(readers, are_made_by_name_or_refused_with_what_there_is) {
  EXPECT_EQ(all().front().name, "lines");
  for (const reader_kind& row : all()) {
    EXPECT_EQ(find(row.name).value(), &row);
    EXPECT_FALSE(row.summary.empty());
    EXPECT_FALSE(row.summary.ends_with('.'));
    const std::string said = refused("no-such-reader");
    EXPECT_TRUE(has(said, row.name)) << said;
    if (row.argument.empty()) {
      EXPECT_TRUE(has(refused(std::string(row.name) + ":x"), "no argument"));
    }
  }
  for (const char* text : {"",
                           ":",
                           "fields",
                           "fields:",
                           "fields:0",
                           "fields:-1",
                           "fields:2,",
                           "fields:2,ab",
                           "fields:99999999999999999999",
                           "fields:1;",
                           "json",
                           "json:",
                           "json:a",
                           "json:/a~2b",
                           "json:/~",
                           "pwned:",
                           "pwned:min",
                           "pwned:min=0",
                           "pwned:10",
                           "password:md5",
                           "email:upper",
                           "lines:",
                           "lines:x",
                           "sha1:Upper",
                           "base64:x",
                           "email:lower,",
                           "safe-browsing:3",
                           "safe-browsing:33",
                           "safe-browsing:x",
                           "Lines"}) {
    EXPECT_FALSE(refused(text).empty()) << text;
  }
}

TEST(readers, find_no_key_in_an_empty_record) {
  for (const reader_kind& row : all()) {
    const bool pointed = row.name == "json";
    const std::string text =
        std::string(row.name) + (pointed                                     ? ":/a"
                                 : row.name == "fields" || row.name == "csv" ? ":1"
                                                                             : "");
    EXPECT_EQ(keys_of(text, "").size(), 0U) << text;
  }
  EXPECT_EQ(keys_of("lines", "a\0b\xff"s), texts{"a\0b\xff"s});
}

TEST(readers, fields_are_counted_as_cut_and_awk_count) {
  EXPECT_EQ(keys_of("fields:1", "a\tb\tc"), texts{"a"});
  EXPECT_EQ(keys_of("fields:3", "a\tb\tc"), texts{"c"});
  EXPECT_EQ(keys_of("fields:2,;", "a;b c;d"), texts{"b c"});
  EXPECT_EQ(keys_of("fields:2,,", "a,b"), texts{"b"});
  EXPECT_EQ(keys_of("fields:2,\\t", "a\tb"), texts{"b"});
  EXPECT_EQ(keys_of("fields:1,;", "whole"), texts{"whole"});
  EXPECT_EQ(keys_of("fields:2,;", "a;;c"), texts{});
  EXPECT_EQ(keys_of("fields:2,;", "a;"), texts{});
  EXPECT_EQ(keys_of("fields:2,;", "a;\0\xff;c"s), texts{"\0\xff"s});
  EXPECT_TRUE(has(wrong("fields:2", "a"), "1 field and no field 2"));
  EXPECT_TRUE(has(wrong("fields:18446744073709551615", "a\tb"), "2 fields"));
  const std::string long_line = std::string(1 << 20, 'x') + ";end";
  EXPECT_EQ(keys_of("fields:2,;", long_line), texts{"end"});
}

TEST(readers, hex_makes_bytes) {
  EXPECT_EQ(keys_of("hex", "00ff7F"), texts{"\0\xff\x7f"s});
  EXPECT_TRUE(has(wrong("hex", "abc"), "odd"));
  for (const auto& text : {"0g"s, "0x"s, " 0"s, "0\0"s, "\xff\xff"s, "0\r"s}) {
    EXPECT_TRUE(has(wrong("hex", text), "not hexadecimal")) << text;
  }
  EXPECT_FALSE(wrong("hex", std::string(1 << 20, 'g')).empty());
  // Every byte at every place of a word and of what is left of one.
  for (std::size_t place = 0; place < 12; ++place) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string digits = "0123456789aB";
      digits[place] = static_cast<char>(byte);
      const bool digit = std::isxdigit(byte) != 0;
      EXPECT_EQ(wrong("hex", digits).empty(), digit) << place << ' ' << byte;
      if (!digit) continue;
      std::string expected;
      for (std::size_t i = 0; i < digits.size(); i += 2) {
        expected += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
      }
      EXPECT_EQ(keys_of("hex", digits), texts{expected});
    }
  }
  const auto hex = made("hex");
  rc::check("hex shows what it reads", [&](const std::vector<unsigned char>& any) {
    RC_PRE(!any.empty());
    const std::string text(any.begin(), any.end());
    const std::string digits = hex->shown("", 0, text);
    RC_ASSERT(keys_of(*hex, digits) == texts{text});
  });
}

// RFC 4648, section 10, and bytes whose digits differ between the alphabets.
TEST(readers, base64_makes_bytes) {
  for (const auto& [text, made] : {std::pair{"Zg==", "f"},
                                   {"Zm8=", "fo"},
                                   {"Zm9v", "foo"},
                                   {"Zm9vYg==", "foob"},
                                   {"Zm9vYmE=", "fooba"},
                                   {"Zm9vYmFy", "foobar"},
                                   {"Zg", "f"},
                                   {"Zm8", "fo"},
                                   {"Zm9vYmE", "fooba"},
                                   {"+/8=", "\xfb\xff"},
                                   {"-_8=", "\xfb\xff"},
                                   {"-_8", "\xfb\xff"}}) {
    EXPECT_EQ(keys_of("base64", text), texts{made}) << text;
  }
  for (const auto& text : {"Z"s, "Zg="s, "Zm8=="s, "Zm9v="s, "Zg==="s, "="s, "===="s, "Zh=="s,
                           "Zm9"s, "Zm8= "s, " Zm8="s, "Zm 8="s, "Zm8=\r"s, "Zm8\n"s, "+_8="s,
                           "Zg==Zg=="s, "Z\0=="s, "\xc3\xbc=="s, std::string(1 << 20, '*')}) {
    EXPECT_FALSE(wrong("base64", text).empty()) << text.substr(0, 20);
  }
  EXPECT_EQ(made("base64")->shown("Zg==", 0, "f"), "66");
  rc::check("base64 reads what openssl's alphabet writes",
            [](const std::vector<unsigned char>& any) {
              RC_PRE(!any.empty());
              constexpr std::string_view alphabet =
                  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
              std::string text;
              std::uint32_t bits = 0;
              int held = 0;
              for (const unsigned char byte : any) {
                bits = bits << 8 | byte;
                for (held += 8; held >= 6; held -= 6) text += alphabet[bits >> (held - 6) & 63];
              }
              if (held > 0) text += alphabet[bits << (6 - held) & 63];
              RC_ASSERT(keys_of("base64", text) == texts{std::string(any.begin(), any.end())});
            });
}

TEST(readers, keys_that_are_text_have_the_letter_case_that_is_asked_for) {
  EXPECT_EQ(keys_of("lines:upper", "a9Z\xc3\xbc "), texts{"A9Z\xc3\xbc "});
  EXPECT_EQ(keys_of("lines:lower", "a9Z"), texts{"a9z"});
  EXPECT_EQ(keys_of("sha1:upper", "abc"), texts{"A9993E364706816ABA3E25717850C26C9CD0D89D"});
  EXPECT_EQ(keys_of("sha1:lower", "abc"), texts{"a9993e364706816aba3e25717850c26c9cd0d89d"});
  EXPECT_EQ(keys_of("md5:upper", "abc"), texts{"900150983CD24FB0D6963F7D28E17F72"});
  EXPECT_EQ(made("sha1:upper")->shown("abc", 0, "A9"), "A9");
}

// FIPS 180-2, appendices A and B; RFC 1321, A.5.
TEST(readers, digests_are_those_of_the_standard) {
  EXPECT_EQ(keys_of("sha1", "abc"), texts{bytes("a9993e364706816aba3e25717850c26c9cd0d89d")});
  EXPECT_EQ(keys_of("sha1", std::string(1'000'000, 'a')),
            texts{bytes("34aa973cd4c4daa4f61eeb2bdbad27316534016f")});
  EXPECT_EQ(keys_of("sha256", "abc"),
            texts{bytes("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")});
  EXPECT_EQ(keys_of("md5", "abc"), texts{bytes("900150983cd24fb0d6963f7d28e17f72")});
  EXPECT_EQ(keys_of("sha1", "\0"s), texts{bytes("5ba93c9db0cff93f52b521d7420e43f6eda2784f")});
}

TEST(utf8, is_read_strictly) {
  const auto reads = [](std::string text) {
    std::string_view rest = text;
    std::vector<char32_t> characters;
    while (!rest.empty()) {
      const auto one = take_character(rest);
      if (!one) return std::vector<char32_t>{};
      characters.push_back(*one);
    }
    return characters;
  };
  EXPECT_EQ(reads("a\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf"),
            (std::vector<char32_t>{'a', 0xfc, 0x20ac, 0x1f600, 0x10ffff}));
  // RFC 3629, sections 3 and 10: too long, surrogates, beyond the last, cut short, stray.
  for (const char* text : {"\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf",
                           "\xed\xa0\x80", "\xed\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
                           "\xe2\x82", "\xc3", "\x80", "\xff", "\xc3(", "\xe2\x28\xa1"}) {
    EXPECT_TRUE(reads(text).empty());
  }
}

TEST(readers, csv_takes_a_column_by_number_or_name) {
  EXPECT_EQ(keys_of("csv:2", R"(1,bob,x)"), texts{"bob"});
  EXPECT_EQ(keys_of("csv:2", R"(1,"a ""b"", c",x)"), texts{R"(a "b", c)"});
  EXPECT_EQ(keys_of("csv:2", R"(1,"",x)"), texts{});
  EXPECT_EQ(keys_of("csv:2", "\xef\xbb\xbf\"1\",5\" disk\r"), texts{"5\" disk"});
  EXPECT_EQ(keys_of("csv:3,;", "1;2;3"), texts{"3"});
  EXPECT_EQ(keys_of("csv:2,\\t", "1\tx,y"), texts{"x,y"});
  EXPECT_TRUE(has(wrong("csv:3", "1,2"), "2 fields and no field 3"));
  EXPECT_TRUE(has(wrong("csv:1", R"("a" b,2)"), "follows the quotes"));
  for (const char* text : {"csv:0", "csv:,;", "csv:2,\"", "csv:\"a"}) refused(text);

  const auto by_name = made("csv:e mail,;");
  by_name->begin_file("a");
  EXPECT_EQ(keys_of(*by_name, "id;e mail"), texts{});
  EXPECT_EQ(keys_of(*by_name, "1;ann"), texts{"ann"});
  by_name->begin_file("b");
  EXPECT_EQ(keys_of(*by_name, R"("e mail";id)"), texts{});
  EXPECT_EQ(keys_of(*by_name, "bob;2"), texts{"bob"});
  by_name->begin_file("c");
  EXPECT_TRUE(has(wrong(*by_name, "id;mail"), "no column has the name 'e mail'"));
  EXPECT_TRUE(has(wrong(*by_name, "id;e mail"), "no column")) << "only the first line is a header";
  EXPECT_EQ(keys_of(*made(R"(csv:"2")"), "2,3"), texts{});
  EXPECT_TRUE(has(wrong("csv:a", "a,b,a"), "two columns"));
}

TEST(readers, csv_refuses_every_line_of_a_record_with_line_breaks) {
  const auto one = made("csv:2");
  EXPECT_TRUE(has(wrong(*one, R"(1,"a)"), "does not end in this line"));
  EXPECT_TRUE(has(wrong(*one, "b,c"), "inside a quoted field"));
  EXPECT_TRUE(has(wrong(*one, R"(d",2,"e)"), "inside a quoted field"));
  EXPECT_TRUE(has(wrong(*one, R"(f")"), "inside a quoted field"));
  EXPECT_EQ(keys_of(*one, "1,g"), texts{"g"});
}

// Any bytes to any reader: keys or one short sentence, the same from another reader of that text.
TEST(readers, answer_any_record_alike) {
  const texts all_texts = {"lines",  "fields:2,:", "hex",           "sha1",
                           "pwned",  "password",   "password:ntlm", "url",
                           "email",  "json:/a",    "safe-browsing", "email:lower,no-tags,gmail",
                           "base64", "md5:lower",  "lines:upper",   "csv:2"};
  const texts lists = {"safe-browsing", "safe-browsing:hosts", "safe-browsing:adblock,32"};
  const auto check = [](const std::string& text, purpose why) {
    const auto one = made(text, why);
    rc::check(text, [&](const std::vector<char>& any) {
      const std::string record(any.begin(), any.end());
      key_list keys;
      one->begin_file("any");
      const bool read = one->read(record, keys).has_value();
      const auto other = made(text, why);
      key_list again;
      RC_ASSERT(other->read(record, again).has_value() == read);
      RC_ASSERT(texts(keys.all().begin(), keys.all().end()) ==
                texts(again.all().begin(), again.all().end()));
    });
  };
  for (const std::string& text : all_texts) check(text, purpose::ask);
  for (const std::string& text : lists) check(text, purpose::insert);
}

}  // namespace
}  // namespace bloomset::test
