// The readers `url` and `safe-browsing`: the keys of a record, and their names in messages.

#include "tests/support/key_readers.hpp"

namespace bloomset::test {
namespace {

/// The names of a record's keys.
texts names_of(std::string_view text, purpose why, std::string_view record) {
  const auto reader = made(text, why);
  const texts keys = keys_of(*reader, record);
  texts names;
  for (std::size_t i = 0; i < keys.size(); ++i) names.push_back(reader->shown(record, i, keys[i]));
  return names;
}

// SHA-256 of foo.com/ and of abc as published (Safe Browsing; FIPS 180-2, example B.1); the others
// by sha256sum.
constexpr std::string_view foo_hash =
    "af30010e4c011fc77e1ab03ef898ab2f8dec17c0bd178a875ad0cd9b7a6e5973";

TEST(url_reader, the_key_is_the_normal_form_whatever_it_is_read_for) {
  for (const auto why : {purpose::insert, purpose::ask}) {
    EXPECT_EQ(keys_of("url", " HTTP://Foo.com:80#x ", why), texts{"http://foo.com/"});
    EXPECT_EQ(keys_of("url", "foo.com", why), texts{"http://foo.com/"});
    EXPECT_EQ(keys_of("url", "https://foo.com:80//a%2bb", why), texts{"https://foo.com:80//a%2Bb"});
    EXPECT_EQ(keys_of("url", "", why), texts{});
    EXPECT_TRUE(wrong("url", "mailto:x", why).starts_with("not a URL: "));
  }
}

TEST(url_reader, symbols_of_a_host_have_punycode_too) {
  for (const auto reader : {"url", "safe-browsing"}) {
    EXPECT_EQ(keys_of(reader, "http://\xe2\x98\x83.example/", purpose::insert),
              keys_of(reader, "http://xn--n3h.example/", purpose::insert))
        << reader;
  }
}

TEST(safe_browsing, a_line_of_a_list_has_the_key_of_its_exact_expression) {
  for (const auto line :
       {"foo.com/", "http://foo.com/", "https://u@Foo.com:443/./#top", "foo.com"}) {
    for (const auto& [reader, size] :
         {std::pair{"safe-browsing", 4U}, {"safe-browsing:32", 32U}, {"safe-browsing:7", 7U}}) {
      EXPECT_EQ(keys_of(reader, line, purpose::insert), texts{bytes(foo_hash.substr(0, 2 * size))})
          << line;
    }
    EXPECT_EQ(names_of("safe-browsing", purpose::insert, line), texts{"foo.com/"});
  }
  EXPECT_EQ(keys_of("safe-browsing", "", purpose::insert), texts{});
}

TEST(safe_browsing, a_hash_prefix_is_taken_as_it_is_and_cut_to_a_key) {
  const auto insert = [](std::string_view name, std::string_view line) {
    return keys_of(name, line, purpose::insert);
  };
  // What surrounds a URL without being of it surrounds a hash, too: it does not make it a host.
  for (const auto line :
       {"ba7816bf", "BA7816BF8F01", "sha256:ba7816bf", " ba7816bf\t", "sha256:ba7816bf\r"}) {
    EXPECT_EQ(insert("safe-browsing", line), texts{bytes("ba7816bf")}) << line;
  }
  EXPECT_EQ(insert("safe-browsing:6", "ba7816bf8f01"), texts{bytes("ba7816bf8f01")});
  EXPECT_EQ(insert("safe-browsing:32", foo_hash), texts{bytes(foo_hash)});
  EXPECT_EQ(names_of("safe-browsing", purpose::insert, "BA7816BF8F01"), texts{"ba7816bf"});
  // A host, as soon as it does not look like one: the SHA-256 of "deadbeef/" and of "abcdef/".
  EXPECT_EQ(insert("safe-browsing", "deadbeef/"), texts{bytes("00e845cc")});
  EXPECT_EQ(insert("safe-browsing", "abcdef"), insert("safe-browsing", "abcdef/"));
  // Who asks means a URL: 8 decimal digits are an address then.
  EXPECT_EQ(names_of("safe-browsing", purpose::ask, "12345678"), texts{"0.188.97.78/"});
}

TEST(safe_browsing, what_is_no_prefix_of_enough_bytes_is_refused) {
  const auto why_not = [](std::string_view name, std::string_view line) {
    return wrong(name, line, purpose::insert);
  };
  const texts no_prefixes = {"ba7816bf8",      std::string(66, 'a'), "sha256:",
                             "sha256:ba7816b", "sha256:ba7816",      "sha256:ba7816bg"};
  for (const auto& line : no_prefixes) {
    EXPECT_TRUE(has(why_not("safe-browsing", line), "is not a hash prefix")) << line;
  }
  EXPECT_TRUE(has(why_not("safe-browsing:32", "ba7816bf"), "write safe-browsing:4"));
  EXPECT_TRUE(why_not("safe-browsing", "mailto:x").starts_with("not a URL: "));
  for (const auto name : {"safe-browsing:3", "safe-browsing:33", "safe-browsing:x",
                          "safe-browsing:-4", "safe-browsing:99999999999999999999"}) {
    EXPECT_TRUE(has(refused(name), "from 4 to 32")) << name;
  }
}

TEST(safe_browsing, a_url_that_is_asked_has_the_keys_of_all_its_expressions) {
  const std::string url = "http://u@a.foo.com:80/1/../2.html?p=1#f";
  const texts keys = keys_of("safe-browsing:32", url);
  const texts names = names_of("safe-browsing:32", purpose::ask, url);
  EXPECT_EQ(names, (texts{"a.foo.com/2.html?p=1", "a.foo.com/2.html", "a.foo.com/",
                          "foo.com/2.html?p=1", "foo.com/2.html", "foo.com/"}));
  ASSERT_EQ(keys.size(), names.size());
  EXPECT_EQ(keys.back(), bytes(foo_hash));
  // Each is the key that the expression has as a line of a list.
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(keys_of("safe-browsing:32", names[i], purpose::insert), texts{keys[i]}) << names[i];
  }
  EXPECT_EQ(keys_of("safe-browsing", "a.b.c.d.e.f.g/1/2/3/4/5?q").size(), 30U);
  EXPECT_EQ(keys_of("safe-browsing", ""), texts{});
  EXPECT_TRUE(wrong("safe-browsing", "/x").starts_with("not a URL: "));
}

// Forms of lists that would be accepted as a host that no URL has.
TEST(safe_browsing, a_line_of_another_form_of_list_is_refused) {
  for (const auto line : {"||evil.example^",
                          "||evil.example^$third-party",
                          "@@||evil.example^",
                          "*.evil.example",
                          "http://*.evil.example/",
                          "0.0.0.0 evil.example",
                          "127.0.0.1 e.co",
                          "127.0.0.1\te.co",
                          "::1 e.co",
                          "evil[.]example",
                          "hxxp://evil[.]example/",
                          "evil(.)example",
                          "evil{.}example",
                          "evil dot example",
                          "evil.example # note",
                          "evil.example\t#note",
                          "http://evil.example/a # note",
                          "# note",
                          "! note",
                          "; note",
                          "[Adblock Plus 2.0]",
                          "evil.example##.ad",
                          "\"evil.example\"",
                          "'evil.example'",
                          "<http://evil.example/>",
                          "\"http://evil.example/\",malware",
                          "evil.example,malware",
                          "evil.example;malware",
                          "evil.example\tmalware",
                          "evil.example|x",
                          "1,evil.example",
                          "2026-01-01,http://evil.example/",
                          "address=/evil.example/0.0.0.0",
                          "local-zone: \"evil.example\" redirect",
                          "evil.example CNAME .",
                          "/^evil[.]example/",
                          "evil.example/*",
                          "ann@evil.example",
                          "evil.example^",
                          "evil\\.example",
                          "- evil.example",
                          "\xff.example",
                          "evil%20.example",
                          "evil.example/a/b/c/d/",
                          "evil.exa\x01mple"}) {
    EXPECT_FALSE(wrong("safe-browsing", line, purpose::insert).empty()) << line;
  }
  for (const auto line : {"evil.example", "EVIL.example.", ".evil.example", "evil_1.ex-ample/a?b",
                          "http://u@evil.example:8080/a b",
                          "b\xc3\xbc"
                          "cher.example",
                          "1.2.3.4/x", "[::1]/", "http://evil.example/a#b", "evil.example/a/b/c/",
                          "http://evil.example/a/b/c/d/"}) {
    EXPECT_EQ(keys_of("safe-browsing", line, purpose::insert).size(), 1U) << line;
  }
  // A question follows the specification, whatever bytes its host has.
  EXPECT_EQ(names_of("safe-browsing", purpose::ask, "http://a b.c/"), (texts{"a%20b.c/"}));
}

TEST(safe_browsing, reads_hosts_files) {
  const auto listed = [](std::string_view line) {
    return names_of("safe-browsing:hosts", purpose::insert, line);
  };
  for (const auto none : {"", "  ", "# note", "\t# 0.0.0.0 evil.example", "127.0.0.1 localhost",
                          "::1\tip6-localhost ip6-loopback", "fe80::1%lo0 localhost",
                          "255.255.255.255 broadcasthost", "ff02::1 ip6-allnodes",
                          "0.0.0.0 0.0.0.0", "127.0.0.1 LOCALHOST.localdomain # this machine"}) {
    EXPECT_EQ(listed(none), texts{}) << none;
  }
  for (const auto one :
       {"0.0.0.0 evil.example", "127.0.0.1\tEVIL.example.\r", " ::  evil.example # note",
        "::1 evil.example#note", "127.0.0.1 localhost evil.example", "evil.example",
        "*.evil.example", "evil.example # note"}) {
    EXPECT_EQ(listed(one), texts{"evil.example/"}) << one;
  }
  EXPECT_EQ(listed("0.0.0.0 a.example b\xc3\xbc"
                   "cher.example\t1.2.3.4"),
            (texts{"a.example/", "xn--bcher-kva.example/", "1.2.3.4/"}));
  for (const auto bad :
       {"0.0.0.0", "93.184.216.34 evil.example", "a.example b.example", "0.0.0.0 ||evil^",
        "0.0.0.0 good.example http://evil.example/", "0.0.0.0 e,f.example", "||evil.example^",
        "0.0.0.0 \xff.example", "0.0.0.0 evil.example:80"}) {
    EXPECT_FALSE(wrong("safe-browsing:hosts", bad, purpose::insert).empty()) << bad;
  }
}

TEST(safe_browsing, reads_lists_of_ad_blockers) {
  const auto listed = [](std::string_view line) {
    return names_of("safe-browsing:adblock", purpose::insert, line);
  };
  for (const auto none :
       {"", "! note", "# note", "[Adblock Plus 2.0]", "@@||evil.example^",
        "@@||evil.example^$document", "##.ad", "evil.example##.ad", "evil.example#@#.ad",
        "evil.example#?#div:has(.ad)", "evil.example#$#body { margin: 0 }",
        "evil.example#%#window.x = 1", "evil.example$$script[tag]", "||evil.example^$badfilter"}) {
    EXPECT_EQ(listed(none), texts{}) << none;
  }
  for (const auto one :
       {"||evil.example^", "||EVIL.example^\r", "||evil.example", "||evil.example^*",
        "||evil.example|", "||evil.example/", "||*.evil.example^", "||evil.example^$third-party",
        "||evil.example^$all,important", "|http://evil.example^", "|https://evil.example/*"}) {
    EXPECT_EQ(listed(one), texts{"evil.example/"}) << one;
  }
  EXPECT_EQ(listed("||evil.example/ads/*$popup"), texts{"evil.example/ads/"});
  // `^` is the end, the beginning of a query, or that of a folder.
  EXPECT_EQ(listed("||evil.example/a.html^"),
            (texts{"evil.example/a.html", "evil.example/a.html/"}));
  EXPECT_EQ(listed("||evil.example/a.html|"), texts{"evil.example/a.html"});
  EXPECT_EQ(listed("||evil.example/a?id=7|"), texts{"evil.example/a?id=7"});
  EXPECT_EQ(listed("||a.b.c.d.e^"), texts{"a.b.c.d.e/"});
  EXPECT_EQ(listed("||1.2.3.4^"), texts{"1.2.3.4/"});
  for (const auto bad : {"/banner/*/img^",
                         "-ad-box.",
                         "/ads[0-9]/",
                         "evil.example",
                         "0.0.0.0 evil.example",
                         "||evil.*^",
                         "||ads.^",
                         "||example^",
                         "||evil.example/ads",
                         "||evil.example/a/b/c/d/",
                         "||evil.example/a?id=7^",
                         "||evil.example/a/b/c/d^",
                         "||a.b.c.d.e.f^",
                         "||evil.example^*/x",
                         "||evil.example:8080^",
                         "||evil.example^$script",
                         "||evil.example^$domain=a.example|b.example",
                         "||",
                         "||^",
                         "||*^",
                         "||e,f.example^",
                         "|evil.example"}) {
    EXPECT_FALSE(wrong("safe-browsing:adblock", bad, purpose::insert).empty()) << bad;
  }
}

TEST(safe_browsing, the_form_of_a_list_and_the_bytes_of_a_key_are_told_together) {
  for (const auto reader : {"safe-browsing:hosts,32", "safe-browsing:32,hosts"}) {
    EXPECT_EQ(keys_of(reader, "0.0.0.0 foo.com", purpose::insert), texts{bytes(foo_hash)});
    EXPECT_EQ(keys_of(reader, "http://foo.com/").front(), bytes(foo_hash));
  }
  EXPECT_EQ(keys_of("safe-browsing:adblock", "||foo.com^", purpose::insert),
            texts{bytes(foo_hash.substr(0, 8))});
  for (const auto name : {"safe-browsing:hosts,adblock", "safe-browsing:hosts,hosts",
                          "safe-browsing:4,5", "safe-browsing:hosts,", "safe-browsing:host"}) {
    EXPECT_FALSE(refused(name).empty()) << name;
  }
}

}  // namespace
}  // namespace bloomset::test
