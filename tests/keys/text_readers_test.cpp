// The readers `email` and `json`: spellings of one key, and records that are refused.

#include <fmt/format.h>

#include "tests/support/key_readers.hpp"

namespace bloomset::test {
namespace {

TEST(readers, email_unites_what_is_one_mailbox_for_certain) {
  EXPECT_EQ(keys_of("email", "Alice.B+tag@EXAMPLE.Com"), texts{"Alice.B+tag@example.com"});
  EXPECT_EQ(keys_of("email:lower", "Alice@EXAMPLE.Com"), texts{"alice@example.com"});
  EXPECT_EQ(keys_of("email:no-tags", "Alice+x+y@a.de"), texts{"Alice@a.de"});
  EXPECT_EQ(keys_of("email:no-tags", "+x@a.de"), texts{"+x@a.de"});
  EXPECT_EQ(keys_of("email:gmail", "A.li.ce+x@GoogleMail.com"), texts{"alice@gmail.com"});
  EXPECT_EQ(keys_of("email:gmail", "A.li.ce+x@a.de"), texts{"A.li.ce+x@a.de"});
  EXPECT_EQ(keys_of("email:lower,no-tags,gmail", "A.B+x@a.de"), texts{"a.b@a.de"});
  EXPECT_EQ(keys_of("email:gmail", ".+x@gmail.com"), texts{".@gmail.com"});
  EXPECT_EQ(keys_of("email", "\"a b@c\"@d.org"), texts{"\"a b@c\"@d.org"});
  EXPECT_EQ(keys_of("email", "a@[192.0.2.1]"), texts{"a@[192.0.2.1]"});
  EXPECT_EQ(keys_of("email", "a@[IPv6:2001:DB8::1]"), texts{"a@[ipv6:2001:db8::1]"});
  EXPECT_EQ(keys_of("email", "postmaster@localhost"), texts{"postmaster@localhost"});
}

// RFC 5321, 4.1.2: quotes and backslashes that a local part does not need mean nothing.
TEST(readers, email_drops_quotes_that_a_local_part_does_not_need) {
  for (const char* spelling : {"ann.b@a.de", "\"ann.b\"@a.de", "\"a\\nn.b\"@A.de", "ann.b@a.de.",
                               "Ann <\"ann.b\"@a.de>", "mailto:%22ann.b%22@a.de"}) {
    EXPECT_EQ(keys_of("email", spelling), texts{"ann.b@a.de"}) << spelling;
  }
  EXPECT_EQ(keys_of("email", R"("a\\ \b\""@c.de)"), texts{R"("a\\ b\""@c.de)"});
  EXPECT_EQ(keys_of("email", R"(""@c.de)"), texts{R"(""@c.de)"});
  EXPECT_EQ(keys_of("email:no-tags", "\"Ann+x\"@a.de"), texts{"Ann@a.de"});
  EXPECT_EQ(keys_of("email:gmail", "\"A.nn+x\"@gmail.com."), texts{"ann@gmail.com"});
  EXPECT_EQ(keys_of("email", "a@\xc3\xbc.de."), texts{"a@xn--tda.de"});
}

TEST(readers, email_lowers_letters_of_all_scripts) {
  EXPECT_EQ(keys_of("email:lower", "\xc3\x9cM@a.de"), texts{"\xc3\xbcm@a.de"});  // Latin
  EXPECT_EQ(keys_of("email:lower", "\xce\x91\xce\xa9@a.de"),
            texts{"\xce\xb1\xcf\x89@a.de"});                                   // Greek
  EXPECT_EQ(keys_of("email:lower", "\xd0\x96@a.de"), texts{"\xd0\xb6@a.de"});  // Cyrillic
  EXPECT_EQ(keys_of("email:lower", "\xf0\x90\x90\x80@a.de"),
            texts{"\xf0\x90\x90\xa8@a.de"});  // Deseret
  EXPECT_EQ(keys_of("email:lower",
                    "\xff\xc3"
                    "A@a.de"),
            texts{"\xff\xc3"
                  "a@a.de"});  // not UTF-8
  EXPECT_EQ(keys_of("email", "\xc3\x9cM@a.de"), texts{"\xc3\x9cM@a.de"});
}

TEST(readers, email_takes_what_stands_around_an_address) {
  for (const char* spelling : {" ann@a.de",
                               "ann@a.de \t",
                               "ann@A.de\r",
                               "<ann@a.de>",
                               "Ann <ann@a.de>",
                               "Ann<ann@a.de> ",
                               "Ann B. <ann@a.de>",
                               "\"B, Ann <x@y>\" <ann@a.de>",
                               R"("say \"<\"" <ann@a.de>)",
                               "< ann@a.de >",
                               "ann@a.de <ann@a.de>",
                               "mailto:ann@a.de",
                               "MAILTO:ann@a.de",
                               "mailto:ann@a.de?subject=x&cc=b@c.de",
                               "mailto:%61nn%40a.de",
                               "Ann <mailto:ann@a.de>",
                               "ann@a.de (Ann)",
                               "ann@a.de (Ann (B.)) (C)",
                               "Ann <ann@a.de> (work)",
                               "ann@a.de ()",
                               "\xef\xbb\xbf mailto:ann@a.de"}) {
    EXPECT_EQ(keys_of("email", spelling), texts{"ann@a.de"}) << spelling;
  }
  EXPECT_EQ(keys_of("email", "A <\"a<b\"@c.de>"), texts{"\"a<b\"@c.de"});
  EXPECT_EQ(keys_of("email", "mailto:a%b%25c@d.de"), texts{"a%b%c@d.de"});
  EXPECT_EQ(keys_of("email", "\"mailto:a?b\"@c.de"), texts{"\"mailto:a?b\"@c.de"});
  EXPECT_EQ(keys_of("email", "mailto@c.de"), texts{"mailto@c.de"});
  EXPECT_EQ(keys_of("email", " \t\r"), texts{});
  for (const char* several : {"a@x.de, Ann <ann@a.de>", "a@x.de; <ann@a.de>",
                              "Ann <ann@a.de>, Bob <bob@b.de>", "<a@x.de> <ann@a.de>"}) {
    EXPECT_TRUE(has(wrong("email", several), "one address per line")) << several;
  }
  for (const char* none :
       {"mailto:", "mailto:?to=ann@a.de", "mailto:a@b.de,c@d.de", "<>", "Ann <>", "Ann <ann@a.de",
        "ann@a.de>", "(Ann)", "ann@a.de (Ann", "ann@a.de Ann)", "<ann@a.de> Ann", "Ann ann@a.de"}) {
    EXPECT_FALSE(wrong("email", none).empty()) << none;
  }
}

TEST(readers, a_byte_order_mark_is_part_of_no_key) {
  const std::string mark = "\xef\xbb\xbf";
  EXPECT_EQ(keys_of("email", mark + "alice@a.de"), texts{"alice@a.de"});
  EXPECT_EQ(keys_of("email", mark), texts{});
  EXPECT_EQ(keys_of("fields:1,;", mark + "alice;7"), texts{"alice"});
  EXPECT_EQ(keys_of("fields:2,;", mark + "alice;7"), texts{"7"});
  EXPECT_EQ(keys_of("url", mark + "http://a.de/"), texts{"http://a.de/"});
  EXPECT_EQ(keys_of("safe-browsing", mark + "http://a.de/"),
            keys_of("safe-browsing", "http://a.de/"));
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
                                    "a@b..de"s,
                                    "a@.de"s,
                                    "a@b.de.."s,
                                    "a@."s,
                                    "\"a\"b\"@c.de"s,
                                    "\"a\\\"@c.de"s,
                                    "\"@c.de"s,
                                    "a@b c.de"s,
                                    "a@b\r.de"s,
                                    "a\0@b.de"s,
                                    "a@b\0.de"s,
                                    "a@\xc3\xbc\0.de"s,
                                    "a@\xff.de"s,
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

TEST(readers, json_reads_documents_as_python_writes_them) {
  const std::string other =
      R"({"a":"k","x":[NaN,-Infinity,Infinity, "\ud800 \udc00\ud83d\ude00 NaN"],"\udc00":1})";
  EXPECT_EQ(keys_of("json:/a", other), texts{"k"});
  EXPECT_EQ(keys_of("json:/a", "{\"a\":\"k\",\"x\":\"\xed\xa0\x80\"}"), texts{"k"});
  EXPECT_EQ(keys_of("json:/a", R"({"x":NaN,"a":"NaN \ud83d\ude00"})"),
            texts{"NaN \xf0\x9f\x98\x80"});
  EXPECT_TRUE(has(wrong("json:/x/0", other), "a string or an integer"));
  EXPECT_TRUE(has(wrong("json:/x/3", other), "half of a surrogate pair"));
  for (const char* broken : {R"({"a":1,"x":NaNs})", R"({"a":1,"x":1NaN})", R"({"a":1,"x":-NaN})",
                             R"({"a":1,"x":"\ud80"})", R"({"a":1,"x":NaN)"}) {
    EXPECT_TRUE(has(wrong("json:/a", broken), "the error is at byte")) << broken;
  }
}

TEST(readers, json_refuses_what_is_no_document_and_survives_it) {
  for (const std::string& record :
       {"{"s, "{}{}"s, "{\"a\":\"b\"}\0{\"a\":\"c\"}"s, "{}\0"s, "x"s, R"({"a":1)"s, R"({"a":01})"s,
        "{\"a\":\"\xff\"}"s, "{\"a\":\"b\0\"}"s, R"({'a':1})"s, R"({"a":1,})"s,
        std::string(1 << 20, '['), std::string(1 << 20, '{'),
        fmt::format("\"{}", std::string(1 << 20, 'x'))}) {
    EXPECT_TRUE(has(wrong("json:/a", record), "the error is at byte")) << record.substr(0, 50);
  }
  EXPECT_TRUE(has(wrong("json:/a", R"({"a":1e999})"), "too large"));
  EXPECT_TRUE(
      has(wrong("json:/b", fmt::format("{{\"a\":{}}}", std::string(1 << 20, '9'))), "too large"));
  const std::string deep = std::string(1 << 19, '[') + std::string(1 << 19, ']');
  EXPECT_EQ(keys_of("json:/a", deep), texts{});
  EXPECT_EQ(keys_of("json:/0/0/0/x", deep), texts{});
  EXPECT_EQ(keys_of("json:/a", R"({"b":)" + deep + R"(,"a":1})"), texts{"1"});
}

}  // namespace
}  // namespace bloomset::test
