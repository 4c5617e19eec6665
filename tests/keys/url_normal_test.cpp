// URLs in normal form: spellings that the URL Standard or RFC 3986 (section 6.2.2) call one URL are
// one, and all others stay apart.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <bloomset/keys/url.hpp>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bloomset::keys {
namespace {

std::string normal(std::string_view url) {
  const auto made = normalise_url(url);
  return made ? *made : made.error().message;
}

struct spellings {
  std::string form;
  std::vector<std::string> of;
};

TEST(normal_url, spellings_that_the_standards_call_equal_are_one) {
  const std::vector<spellings> all = {
      // RFC 3986, section 6.2.2: letter case, escapes, segments; 6.2.3: the scheme's rules.
      {"example://a/b/c/%7Bfoo%7D",
       {"example://a/b/c/%7bfoo%7d", "eXAMPLE://a/./b/../b/%63/%7bfoo%7d",
        "example://A/b/c/%7Bfoo%7D"}},
      {"http://www.example.com/",
       {"HTTP://www.EXAMPLE.com/", "http://www.example.com", "http://www.example.com:/",
        "http://www.example.com:80/"}},
      {"http://h/~a-b.c_d/%2F?q=~", {"http://h/%7ea%2Db%2ec%5fd/%2f?%71=%7E"}},
      // The URL Standard.
      {"https://h/a/b",
       {" https://h/a/b\t", "ht\ntps://h/\ra/b", "https:h/a/b", "https:///h/a/b",
        "https:\\\\h\\a\\b", "https://h:443/a/b", "https://h:0443/a/b", "https://h/x/../a/./b",
        "https://h/../a/b", "https://h/x/%2E%2e/a/%2e/b", "https://h./a/b", "https://%48/a/b",
        "https://h/a/b#c", "https://@h/a/b", "https://:@h/a/b"}},
      {"ftp://h/", {"ftp://h:21"}},
      {"wss://h/", {"wss://h:443/", "WSS:h"}},
      {"http://h/a/", {"http://h/a/.", "http://h/a/b/..", "http://h/a/b/c/../.."}},
      {"http://127.0.0.1/",
       {"http://0x7f.1/", "http://2130706433", "http://0177.0.0.01/", "http://127.0.0.1./",
        "http://127.0x0.1/", "http://%3127.0.0.1/",
        "http://\xef\xbc\x91"
        "27.0.0.1/"}},
      {"http://[2001:db8::1]/", {"http://[2001:DB8:0:0:0:0:0:1]:80/"}},
      {"http://[::ffff:102:304]/", {"http://[::ffff:1.2.3.4]/"}},
      {"http://xn--mnchen-3ya.de/%C3%BC?%C3%BC",
       {"http://m\xc3\xbcnchen.DE/\xc3\xbc?\xc3\xbc", "http://M%c3%9cNCHEN.de/%c3%bc?%c3%bc",
        "http://XN--mnchen-3ya.de/%C3%BC?%C3%BC", "http://mu\xcc\x88nchen.de/%C3%BC?%C3%BC"}},
      {"http://xn--fa-hia.de/", {"http://fa\xc3\x9f.de"}},
      {"http://h/a%20%22%3C%3E%5E%60%7B%7D|[]'?%20%22%3C%3E%27{}|^`",
       {"http://h/a \"<>^`{}|[]'? \"<>'{}|^`"}},
      {"http://u%3A@h/", {"http://u%3a:@h/"}},
      {"http://u:p%2F@h/", {"http://u:p%2f@h/"}},
      {"http://a%40b@h/", {"http://a@b@h/"}},
      {"file:///etc/x", {"file://localhost/etc/x", "FILE:///etc/./x"}},
      // A text without a scheme begins with a host.
      {"http://a.com/", {"a.com", "A.com:80", "a.com#x", "a.com:/"}},
      {"http://a.com:8080/x", {"a.com:8080/x"}},
  };
  for (const auto& [form, of] : all) {
    EXPECT_EQ(normal(form), form);
    for (const auto& spelling : of) EXPECT_EQ(normal(spelling), form) << spelling;
  }
}

TEST(normal_url, distinct_resources_stay_apart) {
  const std::vector<std::string> all = {
      "http://h/",          "https://h/",           "http://h:8080/",     "http://h:9090/",
      "http://h:443/",      "https://h:80/",        "http://u@h/",        "http://u:p@h/",
      "http://U@h/",        "http://h.example/",    "http://www.h/",      "ftp://h/",
      "http://h/?",         "http://h/s?q=a%26b=1", "http://h/s?q=a&b=1", "http://h/s?q=a+b",
      "http://h/s?q=a%2Bb", "http://h/s?q=a%20b",   "http://h/s?q=A+b",   "http://h/a%3Fb",
      "http://h/a?b",       "http://h/a%2Fb",       "http://h/a/b",       "http://h/a//b",
      "http://h//a/b",      "http://h/a/b/",        "http://h/a%23b",     "http://h/a",
      "http://h/A",         "http://h/a;b",         "http://h/a%3Bb",     "http://h/a%25b",
      "http://h/a%2525b",   "http://h/a%b",         "http://h/%%341",     "http://h/%A1",
      "http://h/%2541",     "http://h/|",           "http://h/%7C",       "http://h/a%5Cb",
      "http://h/?a\\b",     "http://h/?a/b",        "http://h/?a%5Cb",    "http://h/%C3%BC",
      "http://h/u%CC%88",   "http://h/%FC",         "http://h/a%00b",     "http://h/%0A",
      "http://[::1]/",      "http://1.2.3.4/",      "http://h/?q=/../x",  "http://h/?q=x",
      "foo://h/",           "foo://h:80/"};
  std::map<std::string, std::string> seen;
  for (const auto& url : all) {
    ASSERT_TRUE(normalise_url(url)) << url;
    const auto [at, is_new] = seen.emplace(normal(url), url);
    EXPECT_TRUE(is_new) << url << " and " << at->second << " are " << at->first;
  }
}

TEST(normal_url, a_text_that_is_no_url_is_refused_in_a_sentence) {
  const std::vector<std::string> all = {"",
                                        "  ",
                                        "#x",
                                        "/x",
                                        "//h/x",
                                        "?x",
                                        "http://",
                                        "http:",
                                        "http:///",
                                        "http://#x",
                                        "http://?x",
                                        "http://:80/",
                                        "http://u@/",
                                        "mailto:a@b.de",
                                        "data:,x",
                                        "tel:112",
                                        "localhost:80",
                                        "http://h:x/",
                                        "http://h:80:80/",
                                        "http://h:65536/",
                                        "http://h:99999999999999999999/",
                                        "http://[::1",
                                        "http://[]/",
                                        "http://[1.2.3.4]/",
                                        "http://[::1%25eth0]/",
                                        "http://[::1]x/",
                                        "http://a b/",
                                        "http://a<b/",
                                        "http://h%2Fx/",
                                        "http://h%00/",
                                        "http://h%25/",
                                        "http://a^b/",
                                        "http://1.2.3.256/",
                                        "http://256.1.1.1/",
                                        "http://1.2.3.4.5/",
                                        "http://4294967296/",
                                        "http://08/",
                                        "http://a.b.2/",
                                        "http://1..2/",
                                        "http://" + std::string(256, 'a'),
                                        "http://" + std::string(5000, 'a') + "%",
                                        "http://" + std::string(300, '\xc3') + "/",
                                        "foo://a b/"};
  for (const auto& url : all) {
    const auto made = normalise_url(url);
    ASSERT_FALSE(made) << url << " -> " << *made;
    EXPECT_EQ(made.error().code, errc::invalid_argument);
    EXPECT_TRUE(made.error().message.starts_with("not a URL: ")) << made.error().message;
  }
}

/// Parts that often make delimiters, escapes and dots of each other.
rc::Gen<std::string> url_text() {
  static const std::vector<std::string> parts = {
      "a",     "A",  "%",   "4",        "1",    "%41",    "%2f",          "%2F",  "%2e", ".",
      "..",    "/",  "/./", "/../",     "\\",   ":",      ":80",          "?",    "#",   "@",
      "[::1]", " ",  "\t",  "\xc3\xbc", "\xff", "0x7f.1", "\xe3\x80\x82", "xn--", "+",   "%25",
      "'",     "\"", "^",   "|",        "~",    "%7e",    "\xe2\x98\x83"};
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(parts)),
                      [](const std::vector<std::string>& chosen) {
                        std::string text;
                        for (const auto& part : chosen) text += part;
                        return text;
                      });
}

TEST(normal_url, is_a_fixed_point_of_printable_ascii) {
  const auto check = [](const std::string& text) {
    const auto once = normalise_url(text);
    if (!once) return;
    RC_ASSERT(std::ranges::all_of(*once, [](char c) { return c > 0x20 && c < 0x7f; }));
    const auto twice = normalise_url(*once);
    RC_ASSERT(twice.has_value());
    RC_ASSERT(*twice == *once);
  };
  EXPECT_TRUE(rc::check([&check] {
    for (int i = 0; i < 20; ++i) {
      const std::string text = *url_text();
      for (const char* before :
           {"", "http://", "http://h/", "https://u:p@h.example:81/", "foo://", "h/?"}) {
        check(before + text);
      }
    }
  }));
  EXPECT_TRUE(rc::check([&check](const std::string& any) { check("https://a." + any); }));
}

/// The bytes that a server sees of a path or query: its escapes replaced, and whether each byte was
/// one. Only unreserved bytes mean the same either way (RFC 3986, section 2.3).
std::vector<std::pair<char, bool>> meaning(std::string_view text) {
  std::vector<std::pair<char, bool>> bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view digits = text.substr(std::min(i + 1, text.size()), 2);
    const bool escape =
        text[i] == '%' && digits.size() == 2 &&
        digits.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
    const char byte =
        escape ? static_cast<char>(std::stoi(std::string(digits), nullptr, 16)) : text[i];
    const bool plain = std::isalnum(static_cast<unsigned char>(byte)) != 0 ||
                       std::string_view("-._~").find(byte) != std::string_view::npos;
    bytes.emplace_back(byte, escape && !plain);
    if (escape) i += 2;
  }
  return bytes;
}

TEST(normal_url, a_stray_percent_sign_and_digits_have_one_form) {
  // Escapes of digits that make no new escape are replaced; of those that would, the first stays.
  EXPECT_EQ(normal("http://h/?%%62"), "http://h/?%b");
  EXPECT_EQ(normal("http://h/?%%62g"), "http://h/?%bg");
  for (const char* query : {"%%341", "%4%31", "%%34%31"}) {
    EXPECT_EQ(normal(std::string("http://h/?") + query), "http://h/?%%341") << query;
  }
  EXPECT_EQ(normal("http://h/?%%%341%4%32"), "http://h/?%%%341%%342");
}

// The query is serialised in one way only, so two normal forms are equal exactly if the bytes and
// their escapes are.
TEST(normal_url, queries_are_equal_exactly_if_they_mean_the_same) {
  const auto text =
      rc::gen::container<std::string>(rc::gen::elementOf(std::string("%%%24aA1bB6fF7&+=/?")));
  std::map<std::vector<std::pair<char, bool>>, std::string> forms;
  std::set<std::string> seen;
  EXPECT_TRUE(rc::check([&] {
    for (int i = 0; i < 50; ++i) {
      const std::string query = *text;
      const std::string form = normal("http://h/?" + query);
      const auto [at, is_new] = forms.emplace(meaning(query), form);
      RC_ASSERT(at->second == form);
      RC_ASSERT(seen.insert(form).second == is_new);
    }
  }));
}

}  // namespace
}  // namespace bloomset::keys
