// Readers of keys: published vectors, and records that nobody would write but somebody will send.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <bloomery/keys/reader.hpp>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "keys/src/md4.hpp"
#include "keys/src/utf8.hpp"

namespace {

using namespace bloomery::keys;
using namespace std::string_literals;
using bloomery::errc;

std::unique_ptr<reader> made(std::string_view text, purpose why = purpose::ask) {
  auto reader = make_reader(text, why);
  if (!reader) {
    ADD_FAILURE() << reader.error().message;
    return nullptr;
  }
  return std::move(*reader);
}

using texts = std::vector<std::string>;

texts keys_of(reader& from, std::string_view record) {
  key_list keys;
  const auto ok = from.read(record, keys);
  EXPECT_TRUE(ok) << ok.error().message;
  return {keys.all().begin(), keys.all().end()};
}
texts keys_of(std::string_view text, std::string_view record, purpose why = purpose::ask) {
  return keys_of(*made(text, why), record);
}

/// What the reader says is wrong with the record, or nothing. Nothing is appended then.
std::string wrong(reader& from, std::string_view record) {
  key_list keys;
  keys.add("before");
  const auto ok = from.read(record, keys);
  if (ok) return "";
  EXPECT_EQ(keys.size(), 1U);
  EXPECT_LT(ok.error().message.size(), 400U) << "a record of any length makes a short sentence";
  return ok.error().message;
}
std::string wrong(std::string_view text, std::string_view record, purpose why = purpose::ask) {
  return wrong(*made(text, why), record);
}

std::string refused(std::string_view text) {
  const auto reader = make_reader(text);
  EXPECT_FALSE(reader) << text;
  if (reader) return "";
  EXPECT_EQ(reader.error().code, errc::invalid_argument);
  return reader.error().message;
}

std::string bytes(std::string_view digits) {
  return keys_of("hex", digits).at(0);
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

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
                           "email:lower,",
                           "safe-browsing:3",
                           "safe-browsing:33",
                           "safe-browsing:x",
                           "Lines"}) {
    EXPECT_FALSE(refused(text).empty()) << text;
  }
}

TEST(readers, find_no_key_in_an_empty_record_but_lines) {
  for (const reader_kind& row : all()) {
    const bool pointed = row.name == "json";
    const std::string text = std::string(row.name) + (pointed                ? ":/a"
                                                      : row.name == "fields" ? ":1"
                                                                             : "");
    EXPECT_EQ(keys_of(text, "").size(), row.name == "lines" ? 1U : 0U) << text;
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

// FIPS 180-2, appendices A and B.
TEST(readers, digests_are_those_of_the_standard) {
  EXPECT_EQ(keys_of("sha1", "abc"), texts{bytes("a9993e364706816aba3e25717850c26c9cd0d89d")});
  EXPECT_EQ(keys_of("sha1", std::string(1'000'000, 'a')),
            texts{bytes("34aa973cd4c4daa4f61eeb2bdbad27316534016f")});
  EXPECT_EQ(keys_of("sha256", "abc"),
            texts{bytes("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")});
  EXPECT_EQ(keys_of("sha1", "\0"s), texts{bytes("5ba93c9db0cff93f52b521d7420e43f6eda2784f")});
}

// RFC 1320, appendix A.5.
TEST(md4, has_the_published_digests) {
  const std::vector<std::pair<std::string, std::string>> vectors = {
      {"", "31d6cfe0d16ae931b73c59d7e0c089c0"},
      {"a", "bde52cb31de33e46245e05fbdbd6fb24"},
      {"abc", "a448017aaf21d8525fc10ae87aa6729d"},
      {"message digest", "d9130a8164549fe818874806e1c7014b"},
      {"abcdefghijklmnopqrstuvwxyz", "d79e1c308aa5bbcdeea8ed63df412da9"},
      {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
       "043f8582f241db351ce627e153e7f0e4"},
      {"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
       "e33b4ddc9c38f2199c3e7b164fcc0536"},
  };
  for (const auto& [text, digits] : vectors) {
    const auto digest = md4(text);
    EXPECT_EQ(std::string(digest.begin(), digest.end()), bytes(digits)) << text;
  }
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

const std::string sha1_of_password = "5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8";
const std::string ntlm_of_password = "8846F7EAEE8FB117AD06BDD830B7586C";

TEST(readers, pwned_takes_what_downloads_hold) {
  const texts key{bytes(sha1_of_password)};
  EXPECT_EQ(keys_of("pwned", sha1_of_password + ":9545824"), key);
  EXPECT_EQ(keys_of("pwned", sha1_of_password + ":9545824\r"), key);
  EXPECT_EQ(keys_of("pwned", "\xef\xbb\xbf" + sha1_of_password + ":3"), key);
  EXPECT_EQ(keys_of("pwned", sha1_of_password), key);
  EXPECT_EQ(keys_of("pwned", "5baa61e4c9b93f3f0682250b6cf8331b7ee68fd8:1"), key);
  EXPECT_EQ(keys_of("pwned", sha1_of_password + ":0"), texts{});
  EXPECT_EQ(keys_of("pwned", ntlm_of_password + ":12"), texts{bytes(ntlm_of_password)});
  EXPECT_EQ(keys_of("pwned", "\xef\xbb\xbf\r"), texts{});
  EXPECT_EQ(keys_of("pwned:min=10", sha1_of_password + ":9"), texts{});
  EXPECT_EQ(keys_of("pwned:min=10", sha1_of_password + ":10"), key);
  EXPECT_EQ(keys_of("pwned", sha1_of_password + ":18446744073709551615"), key);
  EXPECT_TRUE(has(wrong("pwned:min=10", sha1_of_password), "no count"));
  for (const std::string& tail : {":"s, ":x"s, ":-1"s, ":1 "s, ":1:2"s, "::"s,
                                  ":18446744073709551616"s, ":1\r\r"s, ":1\0"s}) {
    EXPECT_TRUE(has(wrong("pwned", sha1_of_password + tail), "not a count")) << tail;
  }
  for (const std::string& record :
       {"x"s, sha1_of_password + "0:1", fmt::format("Z{}", sha1_of_password.substr(1)),
        " " + sha1_of_password, std::string(1 << 20, 'A'), "\0"s,
        sha1_of_password.substr(1) + "\0:1"s, fmt::format("G{}:0", sha1_of_password.substr(1))}) {
    EXPECT_TRUE(has(wrong("pwned", record), "no hash of 40")) << record.substr(0, 50);
  }
}

TEST(readers, pwned_completes_a_range_by_the_files_name) {
  const auto pwned = made("pwned");
  const std::string rest = sha1_of_password.substr(5) + ":7";
  EXPECT_TRUE(has(wrong(*pwned, rest), "name"));
  for (const char* name : {"5BAA6.txt", "/data/00000/5baa6.txt.gz", "./5BAA6"}) {
    pwned->begin_file(name);
    // The fifth digit is of the prefix.
    EXPECT_EQ(keys_of(*pwned, sha1_of_password.substr(5) + ":7"), texts{bytes(sha1_of_password)})
        << name;
    EXPECT_EQ(keys_of(*pwned, sha1_of_password + ":7"), texts{bytes(sha1_of_password)});
  }
  pwned->begin_file("8846F.txt");
  EXPECT_EQ(keys_of(*pwned, ntlm_of_password.substr(5)), texts{bytes(ntlm_of_password)});
  EXPECT_FALSE(wrong(*pwned, std::string(35, 'Z')).empty());
  for (const char* name : {"5BAA6txt", "5BAA.txt", "5BAAG.txt", "", "/", "5BAA6/list"}) {
    pwned->begin_file(name);
    EXPECT_TRUE(has(wrong(*pwned, rest), "name")) << name;
  }
  const auto in_folder = find("pwned").value()->in_folder;
  EXPECT_TRUE(in_folder("00000.txt"));
  EXPECT_TRUE(in_folder("fFfFf.txt.zst"));
  EXPECT_FALSE(in_folder("README.txt"));
}

TEST(readers, a_passwords_key_is_the_one_that_the_list_has) {
  EXPECT_EQ(keys_of("password", "password"), texts{bytes(sha1_of_password)});
  EXPECT_EQ(keys_of("password", "123456"),
            texts{bytes("7C4A8D09CA3762AF61E59520943DC26494F8941B")});
  EXPECT_EQ(keys_of("password:ntlm", "password"), texts{bytes(ntlm_of_password)});
  EXPECT_TRUE(find("password:ntlm").value()->secret);
  // UTF-16 of what is beyond ASCII, and beyond 16 bits, in pairs.
  const std::string utf16 = "\xfc\x00\xac\x20\x3d\xd8\x00\xde"s;
  const auto digest = md4(utf16);
  EXPECT_EQ(keys_of("password:ntlm", "\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80"),
            texts{std::string(digest.begin(), digest.end())});
  EXPECT_TRUE(has(wrong("password:ntlm", "secret\xff"), "not UTF-8"));
  EXPECT_FALSE(has(wrong("password:ntlm", "secret\xff"), "secret"));
  EXPECT_EQ(made("password")->shown("password", 0, bytes(sha1_of_password)), "");
  EXPECT_EQ(keys_of("password", std::string(1 << 20, 'p')),
            keys_of("sha1", std::string(1 << 20, 'p')));
}

TEST(readers, email_unites_what_is_one_mailbox_for_certain) {
  EXPECT_EQ(keys_of("email", "Alice.B+tag@EXAMPLE.Com"), texts{"Alice.B+tag@example.com"});
  EXPECT_EQ(keys_of("email:lower", "Alice@EXAMPLE.Com"), texts{"alice@example.com"});
  EXPECT_EQ(keys_of("email:no-tags", "Alice+x+y@a.de"), texts{"Alice@a.de"});
  EXPECT_EQ(keys_of("email:no-tags", "+x@a.de"), texts{"+x@a.de"});
  EXPECT_EQ(keys_of("email:gmail", "A.li.ce+x@GoogleMail.com"), texts{"alice@gmail.com"});
  EXPECT_EQ(keys_of("email:gmail", "A.li.ce+x@a.de"), texts{"A.li.ce+x@a.de"});
  EXPECT_EQ(keys_of("email:lower,no-tags,gmail", "A.B+x@a.de"), texts{"a.b@a.de"});
  EXPECT_EQ(keys_of("email", "\"a b@c\"@d.org"), texts{"\"a b@c\"@d.org"});
  EXPECT_EQ(keys_of("email", "a@[192.0.2.1]"), texts{"a@[192.0.2.1]"});
  EXPECT_EQ(keys_of("email", "a@[IPv6:2001:DB8::1]"), texts{"a@[ipv6:2001:db8::1]"});
  EXPECT_EQ(keys_of("email", "postmaster@localhost"), texts{"postmaster@localhost"});
}

// UTS #46, non-transitional processing; RFC 3492, section 7.1, example B.
TEST(readers, email_writes_international_domains_in_punycode) {
  for (const char* spelling :
       {"a@m\xc3\xbcnchen.de", "a@M\xc3\x9cNCHEN.DE", "a@xn--mnchen-3ya.de", "a@mu\xcc\x88nchen.de",
        "a@m\xc3\xbcnchen\xe3\x80\x82"
        "de"}) {
    EXPECT_EQ(keys_of("email", spelling), texts{"a@xn--mnchen-3ya.de"}) << spelling;
  }
  EXPECT_EQ(keys_of("email", "a@fa\xc3\x9f.de"), texts{"a@xn--fa-hia.de"});
  EXPECT_EQ(keys_of("email",
                    "\xc3\xbc@\xe4\xbb\x96\xe4\xbb\xac\xe4\xb8\xba\xe4\xbb\x80\xe4\xb9\x88"
                    "\xe4\xb8\x8d\xe8\xaf\xb4\xe4\xb8\xad\xe6\x96\x87.cn"),
            texts{"\xc3\xbc@xn--ihqwcrb4cv8a8dqg056pqjye.cn"});
}

TEST(readers, email_refuses_what_is_no_address) {
  for (const std::string& record : {"alice"s,
                                    "@example.com"s,
                                    "alice@"s,
                                    "a b@c.de"s,
                                    "a@b@c.de"s,
                                    "Alice <alice@a.de>"s,
                                    "<alice@a.de>"s,
                                    "a@b..de"s,
                                    "a@.de"s,
                                    "a@b.de."s,
                                    "a@b c.de"s,
                                    "a@b.de\r"s,
                                    "a\0@b.de"s,
                                    "a@b\0.de"s,
                                    "a@\xc3\xbc\0.de"s,
                                    "a@\xff.de"s,
                                    "a@\xe2\x98\x83.de"s,
                                    "a@\xc3\xbc\xff"s,
                                    "a@[1.2.3.4"s,
                                    "a@[<>]"s,
                                    fmt::format("a@{}.de", std::string(64, 'x')),
                                    fmt::format("a@{}", std::string(1 << 20, '.')),
                                    fmt::format("a@{}", std::string(1 << 20, 'x')),
                                    fmt::format("a@\xc3\xbc{}", std::string(1 << 20, 'x')),
                                    std::string(1 << 20, '@')}) {
    EXPECT_FALSE(wrong("email", record).empty()) << record.substr(0, 50);
  }
  EXPECT_TRUE(has(wrong("email", "a@b.de\r"), "--crlf"));
  EXPECT_EQ(keys_of("email", std::string(1 << 20, 'x') + "@A.de"),
            texts{std::string(1 << 20, 'x') + "@a.de"});
}

// RFC 6901, section 5: its document and pointers.
TEST(readers, json_follows_pointers) {
  const std::string document =
      R"({"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8})";
  EXPECT_EQ(keys_of("json:/foo/0", document), texts{"bar"});
  EXPECT_EQ(keys_of("json:/", document), texts{"0"});
  EXPECT_EQ(keys_of("json:/a~1b", document), texts{"1"});
  EXPECT_EQ(keys_of("json:/c%d", document), texts{"2"});
  EXPECT_EQ(keys_of("json:/i\\j", document), texts{"5"});
  EXPECT_EQ(keys_of("json:/k\"l", document), texts{"6"});
  EXPECT_EQ(keys_of("json:/ ", document), texts{"7"});
  EXPECT_EQ(keys_of("json:/m~0n", document), texts{"8"});
  EXPECT_TRUE(has(wrong("json:/foo", document), "an array"));
  for (const char* absent : {"json:/foo/2", "json:/foo/00", "json:/foo/-", "json:/foo/0/x",
                             "json:/x", "json:/a~1b/x", "json:/foo/x"}) {
    EXPECT_EQ(keys_of(absent, document), texts{}) << absent;
  }
}

TEST(readers, json_takes_strings_and_integers) {
  EXPECT_EQ(keys_of("json:/a", R"({"a":"\u00fc\ud83d\ude00\u0000"})"),
            texts{"\xc3\xbc\xf0\x9f\x98\x80\0"s});
  EXPECT_EQ(keys_of("json:/a", R"( { "a" : -12 } )"), texts{"-12"});
  EXPECT_EQ(keys_of("json:/a", R"({"a":18446744073709551615})"), texts{"18446744073709551615"});
  EXPECT_EQ(keys_of("json:/a", R"({"a":123456789012345678901234567890})"),
            texts{"123456789012345678901234567890"});
  EXPECT_EQ(keys_of("json:/a", R"({"a":null})"), texts{});
  EXPECT_EQ(keys_of("json:/a", R"({"a":""})"), texts{});
  EXPECT_EQ(keys_of("json:/a", R"("a")"), texts{});
  EXPECT_EQ(keys_of("json:/1/a", R"([{"a":1},{"b":{"a":2},"a":3},{"a":4}])"), texts{"3"});
  // Of members of one name the last one counts, whatever was in the others.
  EXPECT_EQ(keys_of("json:/a/b", R"({"a":{"b":1},"a":{"b":2}})"), texts{"2"});
  EXPECT_EQ(keys_of("json:/a/b", R"({"a":{"b":1},"a":{"c":2}})"), texts{});
  EXPECT_EQ(keys_of("json:/a/b", R"({"a":{"b":1},"a":5})"), texts{});
  EXPECT_EQ(keys_of("json:/a", R"({"a":true,"a":1})"), texts{"1"});
  for (const char* value : {"1.5", "1e3", "1.0", "true", "false", "{}", "[1]"}) {
    EXPECT_TRUE(has(wrong("json:/a", R"({"a":)"s + value + "}"), "a string or an integer"))
        << value;
  }
}

TEST(readers, json_refuses_what_is_no_document_and_survives_it) {
  for (const std::string& record :
       {"{"s, "{}{}"s, "x"s, R"({"a":1)"s, R"({"a":"\ud800"})"s, R"({"a":01})"s,
        "{\"a\":\"\xff\"}"s, "{\"a\":\"b\0\"}"s, R"({'a':1})"s, R"({"a":1,})"s,
        std::string(1 << 20, '['), std::string(1 << 20, '{'),
        fmt::format("\"{}", std::string(1 << 20, 'x'))}) {
    EXPECT_TRUE(has(wrong("json:/a", record), "breaks at byte")) << record.substr(0, 50);
  }
  EXPECT_TRUE(has(wrong("json:/a", R"({"a":1e999})"), "too large"));
  EXPECT_TRUE(
      has(wrong("json:/b", fmt::format("{{\"a\":{}}}", std::string(1 << 20, '9'))), "too large"));
  const std::string deep = std::string(1 << 19, '[') + std::string(1 << 19, ']');
  EXPECT_EQ(keys_of("json:/a", deep), texts{});
  EXPECT_EQ(keys_of("json:/0/0/0/x", deep), texts{});
  EXPECT_EQ(keys_of("json:/a", R"({"b":)" + deep + R"(,"a":1})"), texts{"1"});
}

TEST(readers, url_is_one_key_for_each_page) {
  const texts key{"http://www.google.com/"};
  for (const char* spelling : {"http://www.GOOgle.com", "www.google.com:80/#top",
                               " http://www.google.com.../ ", "http://www.google.com/blah/.."}) {
    EXPECT_EQ(keys_of("url", spelling), key) << spelling;
  }
  EXPECT_FALSE(wrong("url", "mailto:alice").empty());
  EXPECT_FALSE(wrong("url", "/path").empty());
}

// "URLs and Hashing" of the Safe Browsing API; FIPS 180-2 for the hash of abc.
TEST(readers, safe_browsing_asks_every_expression_and_lists_one) {
  EXPECT_EQ(keys_of("safe-browsing", "http://foo.com/", purpose::insert), texts{bytes("af30010e")});
  EXPECT_EQ(keys_of("safe-browsing:32", "foo.com/", purpose::insert),
            texts{bytes("af30010e4c011fc77e1ab03ef898ab2f8dec17c0bd178a875ad0cd9b7a6e5973")});
  EXPECT_EQ(keys_of("safe-browsing", "AF30010E", purpose::insert), texts{bytes("af30010e")});
  EXPECT_EQ(keys_of("safe-browsing:5", "af30010e4c011fc7", purpose::insert),
            texts{bytes("af30010e4c")});
  EXPECT_TRUE(has(wrong("safe-browsing:8", "af30010e", purpose::insert), "safe-browsing:4"));

  const auto asks = made("safe-browsing");
  const std::string url = "http://a.b.c/1/2.html?param=1/2";
  const auto keys = keys_of(*asks, url);
  const texts expressions = {"a.b.c/1/2.html?param=1/2", "a.b.c/1/2.html", "a.b.c/", "a.b.c/1/",
                             "b.c/1/2.html?param=1/2",   "b.c/1/2.html",   "b.c/",   "b.c/1/"};
  ASSERT_EQ(keys.size(), expressions.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string shown = asks->shown(url, i, keys[i]);
    EXPECT_EQ(shown, expressions[i]);
    EXPECT_EQ(keys_of("sha256", shown).at(0).substr(0, 4), keys[i]);
    EXPECT_EQ(keys_of("safe-browsing", shown, purpose::insert), texts{keys[i]});
  }
  EXPECT_EQ(keys_of("safe-browsing", url, purpose::insert), texts{keys[0]});
  EXPECT_FALSE(wrong("safe-browsing", "#ref").empty());
}

// Any bytes to any reader: keys or one short sentence, the same from another reader of that text.
TEST(readers, answer_any_record_alike) {
  const texts all_texts = {"lines", "fields:2,:", "hex",           "sha1",
                           "pwned", "password",   "password:ntlm", "url",
                           "email", "json:/a",    "safe-browsing", "email:lower,no-tags,gmail"};
  for (const std::string& text : all_texts) {
    const auto one = made(text);
    rc::check(text, [&](const std::vector<char>& any) {
      const std::string record(any.begin(), any.end());
      key_list keys;
      const bool read = one->read(record, keys).has_value();
      const auto other = made(text);
      key_list again;
      RC_ASSERT(other->read(record, again).has_value() == read);
      RC_ASSERT(texts(keys.all().begin(), keys.all().end()) ==
                texts(again.all().begin(), again.all().end()));
    });
  }
}

}  // namespace
