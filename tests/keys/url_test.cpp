// URLs in canonical form and their expressions: every vector that Google publishes with "URLs and
// Hashing" (Safe Browsing v4; the expressions of v4 and v5), and laws that hold for any bytes.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <bloomset/keys/url.hpp>
#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bloomset::keys {
namespace {

using namespace std::string_literals;
using vectors = std::vector<std::pair<std::string, std::string>>;

/// The canonical text, or the error sentence.
std::string canonical(std::string_view url) {
  const auto made = canonicalise(url);
  return made ? std::string(made->text()) : made.error().message;
}

void expect_all(const vectors& all) {
  for (const auto& [url, expected] : all) EXPECT_EQ(canonical(url), expected) << url;
}

std::vector<std::string> expressions(std::string_view text) {
  const auto url = canonicalise(text);
  if (!url) return {url.error().message};
  const auto list = url_expressions(*url);
  return {list.begin(), list.end()};
}

using texts = std::vector<std::string>;

TEST(canonical_url, the_published_vectors) {
  expect_all({
      {"http://host/%25%32%35", "http://host/%25"},
      {"http://host/%25%32%35%25%32%35", "http://host/%25%25"},
      {"http://host/%2525252525252525", "http://host/%25"},
      {"http://host/asdf%25%32%35asd", "http://host/asdf%25asd"},
      {"http://host/%%%25%32%35asd%%", "http://host/%25%25%25asd%25%25"},
      {"http://www.google.com/", "http://www.google.com/"},
      {"http://%31%36%38%2e%31%38%38%2e%39%39%2e%32%36/%2E%73%65%63%75%72%65/"
       "%77%77%77%2E%65%62%61%79%2E%63%6F%6D/",
       "http://168.188.99.26/.secure/www.ebay.com/"},
      {"http://195.127.0.11/uploads/%20%20%20%20/.verify/"
       ".eBaysecure=updateuserdataxplimnbqmn-xplmvalidateinfoswqpcmlx=hgplmcx/",
       "http://195.127.0.11/uploads/%20%20%20%20/.verify/"
       ".eBaysecure=updateuserdataxplimnbqmn-xplmvalidateinfoswqpcmlx=hgplmcx/"},
      {"http://host%23.com/%257Ea%2521b%2540c%2523d%2524e%25f%255E00%252611%252A22%252833%252944_"
       "55%252B",
       "http://host%23.com/~a!b@c%23d$e%25f^00&11*22(33)44_55+"},
      {"http://3279880203/blah", "http://195.127.0.11/blah"},
      {"http://www.google.com/blah/..", "http://www.google.com/"},
      {"www.google.com/", "http://www.google.com/"},
      {"www.google.com", "http://www.google.com/"},
      {"http://www.evil.com/blah#frag", "http://www.evil.com/blah"},
      {"http://www.GOOgle.com/", "http://www.google.com/"},
      {"http://www.google.com.../", "http://www.google.com/"},
      {"http://www.google.com/foo\tbar\rbaz\n2", "http://www.google.com/foobarbaz2"},
      {"http://www.google.com/q?", "http://www.google.com/q?"},
      {"http://www.google.com/q?r?", "http://www.google.com/q?r?"},
      {"http://www.google.com/q?r?s", "http://www.google.com/q?r?s"},
      {"http://evil.com/foo#bar#baz", "http://evil.com/foo"},
      {"http://evil.com/foo;", "http://evil.com/foo;"},
      {"http://evil.com/foo?bar;", "http://evil.com/foo?bar;"},
      {"http://\x01\x80.com/", "http://%01%80.com/"},
      {"http://notrailingslash.com", "http://notrailingslash.com/"},
      {"http://www.gotaport.com:1234/", "http://www.gotaport.com/"},
      {"  http://www.google.com/  ", "http://www.google.com/"},
      {"http:// leadingspace.com/", "http://%20leadingspace.com/"},
      {"http://%20leadingspace.com/", "http://%20leadingspace.com/"},
      {"%20leadingspace.com/", "http://%20leadingspace.com/"},
      {"https://www.securesite.com/", "https://www.securesite.com/"},
      {"http://host.com/ab%23cd", "http://host.com/ab%23cd"},
      {"http://host.com//twoslashes?more//slashes", "http://host.com/twoslashes?more//slashes"},
      // Of version 5.
      {"http://[2001:0db8:0000::1]/", "http://[2001:db8::1]/"},
      {"http://[::ffff:1.2.3.4]/", "http://1.2.3.4/"},
      {"http://[64:ff9b::1.2.3.4]/", "http://1.2.3.4/"},
  });
}

TEST(canonical_url, an_ipv4_address_in_any_encoding_is_four_decimal_bytes) {
  expect_all({
      {"http://0xc37f000b/", "http://195.127.0.11/"},
      {"http://030337600013/", "http://195.127.0.11/"},
      {"http://195.8323083/", "http://195.127.0.11/"},
      {"http://195.127.11", "http://195.127.0.11/"},
      {"http://0303.0x7F.0.013:80/x", "http://195.127.0.11/x"},
      {"http://0/", "http://0.0.0.0/"},
      {"http://4294967295/", "http://255.255.255.255/"},
      {"http://.1..2.3.4./", "http://1.2.3.4/"},
      // Of a number that is too large for its place the lowest bytes count.
      {"http://1.2.3.256/", "http://1.2.3.0/"},
      {"http://1.2.65536/", "http://1.2.0.0/"},
      {"http://256.1/", "http://0.0.0.1/"},
      // Any other is a name.
      {"http://4294967296/", "http://4294967296/"},
      {"http://08.1.1.1/", "http://08.1.1.1/"},
      {"http://1.2.3.4.5/", "http://1.2.3.4.5/"},
      {"http://0x/", "http://0x/"},
      {"http://1.2.3.x/", "http://1.2.3.x/"},
      // Full-width digits (UTS #46).
      {"http://\xef\xbc\x91.2.3.4/", "http://1.2.3.4/"},
  });
}

// Of Google's own client, github.com/google/safebrowsing, urls_test.go: TestParseIPAddress,
// TestCanonicalHost, TestCanonicalPath, and what TestCanonicalURL has beside the vectors above. Its
// canonical URL has no query.
TEST(canonical_url, the_vectors_of_googles_client) {
  expect_all({
      {"http://123.123.0.0.1/", "http://123.123.0.0.1/"},
      {"http://255.0.0.1/", "http://255.0.0.1/"},
      {"http://12.0x12.01234/", "http://12.18.2.156/"},
      {"http://276.2.3/", "http://20.2.0.3/"},
      {"http://012.034.01.055/", "http://10.28.1.45/"},
      {"http://0x12.0x43.0x44.0x01/", "http://18.67.68.1/"},
      {"http://167838211/", "http://10.1.2.3/"},
      {"http://3279880203/", "http://195.127.0.11/"},
      {"http://4294967295/", "http://255.255.255.255/"},
      {"http://10.192.95.89 xy/", "http://10.192.95.89/"},
      {"http://1.2.3.00x0/", "http://1.2.3.00x0/"},
      // More than 15 bytes are a name, and so is another form than four decimal numbers.
      {"http://10.192.95.89 xyz/", "http://10.192.95.89%20xyz/"},
      {"http://10.1 xy/", "http://10.1%20xy/"},

      {"http://google.com.:8080/foo.html", "http://google.com/foo.html"},
      {"http://google...com/foo.html", "http://google.com/foo.html"},
      {"http://..google.com/foo.html", "http://google.com/foo.html"},
      {"http://[FEDC:BA98:7654:3210:FEDC:BA98:7654:3210]:80/index.html",
       "http://[fedc:ba98:7654:3210:fedc:ba98:7654:3210]/index.html"},
      {"http://192.168.0.1:80/index.html", "http://192.168.0.1/index.html"},

      {"http://a.com/foo/.././bar/./../foo.html", "http://a.com/foo.html"},
      {"http://a.com/a/b/", "http://a.com/a/b/"},
      {"http://a.com/a/b/c", "http://a.com/a/b/c"},
      {"http://a.com//a//b///c////", "http://a.com/a/b/c/"},

      {"ftp://ftp.myfiles.com/", "ftp://ftp.myfiles.com/"},
      {"http://www.\xC3\xBCmlat.com/", "http://www.xn--mlat-zra.com/"},
      {"http://[2001:470:1:18::114]/", "http://[2001:470:1:18::114]/"},
      {"http%3A%2F%2Fwackyurl.com:80/", "http://wackyurl.com/"},
      {"http://W!eird<>Ho$^.com/", "http://w!eird<>ho$^.com/"},
      {"http://i.have.way.too.many.dots.com/", "http://i.have.way.too.many.dots.com/"},

      // Where we keep to the specification and the client does not (docs/use/safe-browsing.md).
      {"http://some%1bhost.com/%1b", "http://some%1Bhost.com/%1B"},
      {"http://[::192.9.5.5]/ipng", "http://[::c009:505]/ipng"},
  });
  for (const char* none :
       {"", ":", "/blah", "#ref", "/blah#ref", "?query#ref", "/blah?query#ref", "/blah;param",
        "http://#ref", "http:///blah#ref", "http://?query#ref", "http:///blah?query#ref",
        "http:///blah;param", "http:///blah;param?query#ref", "mailto:bryner@google.com",
        "http:www.google.com:8080/foo.html", "www.google.com:xxyy/foo.html:80"}) {
    EXPECT_FALSE(canonicalise(none)) << none;
  }
}

TEST(canonical_url, an_ipv6_address_is_written_as_in_rfc_5952) {
  expect_all({
      {"http://[2001:DB8:0:0:1:0:0:1]:8080/a", "http://[2001:db8::1:0:0:1]/a"},
      {"http://[2001:db8:0:1:1:1:1:1]/", "http://[2001:db8:0:1:1:1:1:1]/"},
      {"http://[2001:0:0:1:0:0:0:1]/", "http://[2001:0:0:1::1]/"},
      {"http://[0:0:0:0:0:0:0:0]", "http://[::]/"},
      {"http://[1:0:0:0:0:0:0:0]", "http://[1::]/"},
      {"http://[0:0:0:0:0:0:0:1]", "http://[::1]/"},
      {"http://[::1.2.3.4]/", "http://[::102:304]/"},
      {"[::1]/x", "http://[::1]/x"},
  });
}

TEST(canonical_url, a_name_beyond_ascii_is_punycode_and_bytes_that_are_no_text_stay) {
  expect_all({
      {"http://m\xc3\xbcnchen.de/", "http://xn--mnchen-3ya.de/"},
      {"http://M\xc3\x9cNCHEN.de/", "http://xn--mnchen-3ya.de/"},
      {"http://m%C3%BCnchen.de/", "http://xn--mnchen-3ya.de/"},
      {"http://xn--mnchen-3ya.DE/", "http://xn--mnchen-3ya.de/"},
      {"http://fa\xc3\x9f.de/", "http://xn--fa-hia.de/"},  // non-transitional: not fass.de
      {"http://a\xe3\x80\x82m\xc3\xbc.de/", "http://a.xn--m-eha.de/"},  // U+3002 is a dot
      // A label that has no Punycode leaves the others what they are.
      {"http://\xff.m\xc3\xbcnchen.de/", "http://%FF.xn--mnchen-3ya.de/"},
      {"http://r1---A.m\xc3\xbcnchen.de/", "http://r1---a.xn--mnchen-3ya.de/"},
      {"http://a_b.m\xc3\xbcnchen.de/", "http://a_b.xn--mnchen-3ya.de/"},
      {"http://\xc3\xbc%00.de/", "http://%C3%BC%00.de/"},
      // Full-width delimiters do not become delimiters.
      {"http://evil.com\xef\xbc\x8fgood.com/", "http://evil.com%EF%BC%8Fgood.com/"},
      {"http://good.com\xef\xbc\xa0\xc3\xbc.com/", "http://good.com%EF%BC%A0%C3%BC.com/"},
  });
}

TEST(canonical_url, what_is_about_the_host_goes) {
  expect_all({
      {"http://user:pass@host.com:80/", "http://host.com/"},
      {"user@host.com", "http://host.com/"},
      {"http://a@b@c.com/", "http://c.com/"},
      // Where a browser goes: userinfo ends before escapes are replaced.
      {"http://good.com%2F@evil.com/", "http://evil.com/"},
      {"http://good.com%23@evil.com/", "http://evil.com/"},
      {"http://a%40evil.com/", "http://evil.com/"},
      {"HTTPS://Host.com:/", "https://host.com/"},
      {"example.com:8080/x", "http://example.com/x"},
      {"example.com:8080?x", "http://example.com/?x"},
      {"http://host?q=a@b", "http://host/?q=a@b"},
      {"ftp://ftp.host.com/pub", "ftp://ftp.host.com/pub"},
      {"ht\ttp://ho\nst/", "http://host/"},
      {"http://host.com/?u=http%3A%2F%2Fa.com%2F..%2F%23x",
       "http://host.com/?u=http://a.com/../%23x"},
      {"host.com/?u=http://a.com/", "http://host.com/?u=http://a.com/"},
  });
}

TEST(canonical_url, the_path_is_resolved_and_the_query_is_not) {
  expect_all({
      {"http://h/a/./b/../c", "http://h/a/c"},
      {"http://h/a/b/..", "http://h/a/"},
      {"http://h/a/b/.", "http://h/a/b/"},
      {"http://h/../../a", "http://h/a"},
      {"http://h/%2e%2E/a/%252e%252e/b", "http://h/b"},
      {"http://h/a///b//", "http://h/a/b/"},
      {"http://h/a//../b", "http://h/a/b"},  // an empty component is one, as in the published order
      {"http://h/..a/.b/c..", "http://h/..a/.b/c.."},
      {"http://h/a%2f..%2fb", "http://h/b"},
      {"http://h/a?/../b//c", "http://h/a?/../b//c"},
      {"http://h/a%3fb", "http://h/a?b"},
  });
}

TEST(canonical_url, what_is_no_url_is_refused_in_a_sentence) {
  const texts none = {"",          "   ",        "\t\r\n",       "#frag",        "  #x",
                      "http://",   "http:///x",  "http://#x",    "http://?x",    "http://...",
                      "/blah",     "//host/x",   "?x",           "mailto:x",     "mailto:a@b.com",
                      "data:,x",   "http:host",  "http:/host",   "localhost:80", "tel:112",
                      "http://@/", "http://:80", "http://u:p@/", "%2f",          "."};
  const texts port = {"http://host:x/", "http://host:80:80/", "http://host:65536/",
                      "http://2001:db8::1/", "http://host:99999999999999999999/"};
  const texts address = {"http://[]/",           "http://[::1/",
                         "http://[::1]x/",       "http://[1.2.3.4]/",
                         "http://[::1%25eth0]/", "http://[::g]:80/",
                         "http://[::1%00]/",     "http://[" + std::string(200, '1') + "]/"};
  for (const auto& [urls, why] : {std::pair{none, ""}, {port, "port"}, {address, "IPv6"}}) {
    for (const auto& url : urls) {
      const auto made = canonicalise(url);
      ASSERT_FALSE(made) << url << " -> " << made->text();
      EXPECT_EQ(made.error().code, errc::invalid_argument);
      EXPECT_TRUE(made.error().message.starts_with("not a URL: ")) << made.error().message;
      EXPECT_NE(made.error().message.find(why), std::string::npos) << made.error().message;
    }
  }
}

TEST(canonical_url, a_host_has_up_to_255_bytes) {
  const std::string longest = std::string(251, 'a') + ".com";
  EXPECT_EQ(canonical("http://" + longest), "http://" + longest + "/");
  EXPECT_NE(canonical("http://a" + longest).find("longer than the 255 bytes"), std::string::npos);
  // Counted before escaping, so that the canonical form is a URL, too.
  const auto escaped = canonicalise(std::string(255, '\xff'));
  ASSERT_TRUE(escaped);
  EXPECT_EQ(escaped->host().size(), 3 * 255);
  EXPECT_EQ(canonical(escaped->text()), escaped->text());
  EXPECT_NE(canonical(std::string(2000, '\xff')).find("longer"), std::string::npos);
}

TEST(canonical_url, its_parts_make_its_text) {
  const auto url = canonicalise("https://u@1.2.3:4/d/e?f?g#h");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->text(), "https://1.2.0.3/d/e?f?g");
  EXPECT_EQ(url->scheme(), "https");
  EXPECT_EQ(url->host(), "1.2.0.3");
  EXPECT_EQ(url->path(), "/d/e");
  EXPECT_EQ(url->query(), "?f?g");
  EXPECT_EQ(url->expression(), "1.2.0.3/d/e?f?g");
  EXPECT_TRUE(url->has_address());
  EXPECT_TRUE(canonicalise("http://[::1]/")->has_address());
  EXPECT_FALSE(canonicalise("http://1.2.3.4.5/")->has_address());
}

TEST(url_expressions, the_published_vectors_in_the_published_order) {
  EXPECT_EQ(expressions("http://a.b.com/1/2.html?param=1"),
            (texts{"a.b.com/1/2.html?param=1", "a.b.com/1/2.html", "a.b.com/", "a.b.com/1/",
                   "b.com/1/2.html?param=1", "b.com/1/2.html", "b.com/", "b.com/1/"}));
  EXPECT_EQ(expressions("http://a.b.c.d.e.f.com/1.html"),
            (texts{"a.b.c.d.e.f.com/1.html", "a.b.c.d.e.f.com/", "c.d.e.f.com/1.html",
                   "c.d.e.f.com/", "d.e.f.com/1.html", "d.e.f.com/", "e.f.com/1.html", "e.f.com/",
                   "f.com/1.html", "f.com/"}));
  EXPECT_EQ(expressions("http://a.b.c.d.e.f.g/1.html"),
            (texts{"a.b.c.d.e.f.g/1.html", "a.b.c.d.e.f.g/", "c.d.e.f.g/1.html", "c.d.e.f.g/",
                   "d.e.f.g/1.html", "d.e.f.g/", "e.f.g/1.html", "e.f.g/", "f.g/1.html", "f.g/"}));
  EXPECT_EQ(expressions("http://1.2.3.4/1/"), (texts{"1.2.3.4/1/", "1.2.3.4/"}));
  EXPECT_EQ(expressions("http://a.b.c/1/2.html?param=1/2"),
            (texts{"a.b.c/1/2.html?param=1/2", "a.b.c/1/2.html", "a.b.c/", "a.b.c/1/",
                   "b.c/1/2.html?param=1/2", "b.c/1/2.html", "b.c/", "b.c/1/"}));
}

TEST(url_expressions, edges_of_hosts_and_paths) {
  EXPECT_EQ(expressions("localhost"), texts{"localhost/"});
  EXPECT_EQ(expressions("a.b"), texts{"a.b/"});
  EXPECT_EQ(expressions("http://[::1]/"), texts{"[::1]/"});
  EXPECT_EQ(expressions("http://2130706433/x"), (texts{"127.0.0.1/x", "127.0.0.1/"}));
  EXPECT_EQ(expressions("a.b/?"), (texts{"a.b/?", "a.b/"}));
  EXPECT_EQ(expressions("a.b.c.d.e/"), (texts{"a.b.c.d.e/", "b.c.d.e/", "c.d.e/", "d.e/"}));
  EXPECT_EQ(expressions("a.b.c.d.e.f/"),
            (texts{"a.b.c.d.e.f/", "b.c.d.e.f/", "c.d.e.f/", "d.e.f/", "e.f/"}));
  EXPECT_EQ(expressions("a.b/1/2/3/4/5"),
            (texts{"a.b/1/2/3/4/5", "a.b/", "a.b/1/", "a.b/1/2/", "a.b/1/2/3/"}));
  EXPECT_EQ(expressions("a.b/1/2/3/"), (texts{"a.b/1/2/3/", "a.b/", "a.b/1/", "a.b/1/2/"}));
  EXPECT_EQ(expressions("a.b.c.d.e.f.g/1/2/3/4/5?q").size(), 30);
}

/// Bytes that often make delimiters, escapes and dots of each other.
rc::Gen<std::string> url_like() {
  return rc::gen::map(
      rc::gen::container<std::vector<std::string>>(rc::gen::weightedElement<std::string>({
          {6, "a"},
          {3, "%"},
          {3, "2"},
          {2, "5"},
          {2, "."},
          {2, "/"},
          {1, "//"},
          {1, ":"},
          {1, "?"},
          {1, "#"},
          {1, "@"},
          {1, "["},
          {1, "]"},
          {1, "::"},
          {2, "%25"},
          {1, "%2f"},
          {1, "%2e"},
          {1, ".."},
          {1, " "},
          {1, "\t"},
          {1, "\xc3\xbc"},
          {1, "\xff"},
          {1, "0x"},
          {1, "\xe3\x80\x82"},
          {1, "\xef\xbc\x8f"},
          {1, "\xc2\xad"},
          {1, "xn--"},
          {1, "F"},
      })),
      [](const std::vector<std::string>& parts) {
        std::string text;
        for (const auto& part : parts) text += part;
        return text;
      });
}

void check_laws(const std::string& text) {
  const auto url = canonicalise(text);
  if (!url) return;
  const std::string_view form = url->text();
  RC_ASSERT(std::all_of(form.begin(), form.end(), [](char c) { return c > 0x20 && c < 0x7f; }));
  RC_ASSERT(form == std::string(url->scheme()) + "://" + std::string(url->expression()));
  const auto again = canonicalise(form);
  RC_ASSERT(again.has_value());
  RC_ASSERT(again->text() == form);
  RC_ASSERT(again->has_address() == url->has_address());

  const auto list = url_expressions(*url);
  RC_ASSERT(list.size() >= 1);
  RC_ASSERT(list[0] == url->expression());
  RC_ASSERT(std::set<std::string_view>(list.begin(), list.end()).size() == list.size());
  // An expression in a list is itself canonical: as a line without a scheme it names the same. But
  // for the end of a name that no registry has: 2.3 of a.2.3 is an address by itself.
  for (const auto expression : list) {
    const auto listed = canonicalise(expression);
    if (!url->has_address() && (expression.starts_with('[') || listed->has_address())) continue;
    RC_ASSERT(listed.has_value());
    RC_ASSERT(listed->expression() == expression);
  }
}

TEST(canonical_url, is_a_fixed_point_and_so_are_its_expressions) {
  EXPECT_TRUE(rc::check([] {
    for (int i = 0; i < 20; ++i) {
      const std::string text = *url_like();
      check_laws(text);
      check_laws("http://" + text);
      check_laws("a.b.c/" + text);
    }
  }));
  EXPECT_TRUE(rc::check([](const std::string& any) { check_laws("https://a." + any); }));
}

/// What the specification says, in as many passes as it takes.
std::string unescaped_by_passes(std::string text) {
  for (bool changed = true; changed;) {
    changed = false;
    std::string next;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const std::string_view digits = std::string_view(text).substr(i + 1, 2);
      const bool escape =
          text[i] == '%' && digits.size() == 2 &&
          digits.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
      next += escape ? static_cast<char>(std::stoi(std::string(digits), nullptr, 16)) : text[i];
      if (escape) i += 2;
      changed = changed || escape;
    }
    text = next;
  }
  return text;
}

TEST(canonical_url, one_pass_unescapes_as_many_passes_do) {
  const auto escapes = rc::gen::container<std::string>(rc::gen::weightedElement<char>(
      {{5, '%'}, {5, '2'}, {5, '5'}, {1, '3'}, {1, '6'}, {1, 'f'}, {1, 'x'}}));
  EXPECT_TRUE(rc::check([&escapes] {
    const std::string text = *escapes;
    const std::string plain = unescaped_by_passes(text);
    // As a query, which is escaped and nothing else.
    std::string expected = "http://h/?";
    for (const char c : plain) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte <= 0x20 || byte >= 0x7f || c == '%' || c == '#') {
        constexpr std::string_view digits = "0123456789ABCDEF";
        expected += {'%', digits[byte / 16], digits[byte % 16]};
      } else {
        expected += c;
      }
    }
    RC_ASSERT(canonical("http://h/?" + text) == expected);
  }));
}

// 1 MiB each. Were any of it quadratic, a case would take hours: the limit is only to end that.
TEST(canonical_url, takes_linear_time_for_any_bytes) {
  constexpr std::size_t size = std::size_t{1} << 20;
  const auto repeated = [](std::string_view part) {
    std::string text;
    while (text.size() < size) text += part;
    return text;
  };
  const auto started = std::chrono::steady_clock::now();
  EXPECT_EQ(canonical("http://h/%" + repeated("25")), "http://h/%25");
  EXPECT_EQ(canonical("http://h/" + repeated("%25")).size(), 9 + size / 3 * 3 + 3);
  EXPECT_EQ(canonical("http://h" + repeated("/a/..")), "http://h/");
  EXPECT_EQ(canonical("http://h" + repeated("/..")), "http://h/");
  EXPECT_EQ(canonical(repeated("s") + "://h" + repeated("/..")).size(), size + 5);
  EXPECT_EQ(canonical("http://" + repeated("@") + "h"), "http://h/");
  EXPECT_EQ(canonical("http://" + repeated(".") + "h"), "http://h/");
  EXPECT_TRUE(canonical(repeated("\xc3\xbc.")).starts_with("not a URL"));
  EXPECT_TRUE(canonical("http://[" + repeated(":")).starts_with("not a URL"));
  EXPECT_EQ(canonical("http://h?" + repeated("?")).size(), 10 + size);
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::minutes(2));
}

}  // namespace
}  // namespace bloomset::keys
