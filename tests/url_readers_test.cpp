// The readers `url` and `safe-browsing`: the keys of a record, and their names in messages.

#include <gtest/gtest.h>

#include <bloomery/keys/reader.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery::keys {
namespace {

using texts = std::vector<std::string>;

std::string hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += {digits[byte / 16], digits[byte % 16]};
  }
  return text;
}

struct outcome {
  texts keys;
  texts shown;
  std::string refused;
};

outcome read(std::string_view name, purpose why, std::string_view record) {
  outcome found;
  auto made = make_reader(name, why);
  if (!made) {
    found.refused = made.error().message;
    return found;
  }
  key_list list;
  list.add("before");
  if (auto ok = (*made)->read(record, list); !ok) {
    EXPECT_EQ(list.size(), 1) << "a refused record has appended keys";
    found.refused = ok.error().message;
    return found;
  }
  for (std::size_t i = 1; i < list.size(); ++i) {
    const std::string_view key = list.all()[i];
    found.keys.emplace_back(key);
    found.shown.push_back((*made)->shown(record, i - 1, key));
  }
  return found;
}

texts hex_keys(std::string_view name, purpose why, std::string_view record) {
  auto found = read(name, why, record);
  EXPECT_EQ(found.refused, "") << record;
  for (auto& key : found.keys) key = hex(key);
  return found.keys;
}

// SHA-256 of foo.com/ and of abc as published (Safe Browsing; FIPS 180-2, example B.1); the others
// by sha256sum.
constexpr std::string_view foo = "af30010e4c011fc77e1ab03ef898ab2f8dec17c0bd178a875ad0cd9b7a6e5973";

TEST(url_reader, the_key_is_the_canonical_text_whatever_it_is_read_for) {
  for (const auto why : {purpose::insert, purpose::ask}) {
    EXPECT_EQ(read("url", why, " HTTP://Foo.com:80#x ").keys, texts{"http://foo.com/"});
    EXPECT_EQ(read("url", why, "foo.com").keys, texts{"http://foo.com/"});
    EXPECT_EQ(read("url", why, "https://foo.com").keys, texts{"https://foo.com/"});
    EXPECT_EQ(read("url", why, "").keys, texts{});
    EXPECT_TRUE(read("url", why, "mailto:x").refused.starts_with("not a URL: "));
  }
}

TEST(safe_browsing, a_line_of_a_list_has_the_key_of_its_exact_expression) {
  const std::string first(foo.substr(0, 8));
  for (const auto line :
       {"foo.com/", "http://foo.com/", "https://u@Foo.com:443/./#top", "foo.com"}) {
    EXPECT_EQ(hex_keys("safe-browsing", purpose::insert, line), texts{first}) << line;
    EXPECT_EQ(hex_keys("safe-browsing:32", purpose::insert, line), texts{std::string(foo)}) << line;
    EXPECT_EQ(hex_keys("safe-browsing:7", purpose::insert, line),
              texts{std::string(foo.substr(0, 14))});
    EXPECT_EQ(read("safe-browsing", purpose::insert, line).shown, texts{"foo.com/"});
  }
  EXPECT_EQ(read("safe-browsing", purpose::insert, "").keys, texts{});
}

TEST(safe_browsing, a_hash_prefix_is_taken_as_it_is_and_cut_to_a_key) {
  const auto insert = [](std::string_view name, std::string_view line) {
    return hex_keys(name, purpose::insert, line);
  };
  EXPECT_EQ(insert("safe-browsing", "ba7816bf"), texts{"ba7816bf"});
  EXPECT_EQ(insert("safe-browsing", "BA7816BF8F01"), texts{"ba7816bf"});
  EXPECT_EQ(insert("safe-browsing", "sha256:ba7816bf"), texts{"ba7816bf"});
  // What surrounds a URL without being of it surrounds a hash, too: it does not make it a host.
  EXPECT_EQ(insert("safe-browsing", " ba7816bf\t"), texts{"ba7816bf"});
  EXPECT_EQ(insert("safe-browsing", "sha256:ba7816bf\r"), texts{"ba7816bf"});
  EXPECT_EQ(insert("safe-browsing:6", "ba7816bf8f01"), texts{"ba7816bf8f01"});
  EXPECT_EQ(insert("safe-browsing:32", foo), texts{std::string(foo)});
  EXPECT_EQ(read("safe-browsing", purpose::insert, "BA7816BF8F01").shown, texts{"ba7816bf"});
  // A host, as soon as it does not look like one: the SHA-256 of "deadbeef/" and of "abcdef/".
  EXPECT_EQ(insert("safe-browsing", "deadbeef/"), texts{"00e845cc"});
  EXPECT_EQ(insert("safe-browsing", "abcdef"), insert("safe-browsing", "abcdef/"));
  // Who asks means a URL: 8 decimal digits are an address then.
  EXPECT_EQ(read("safe-browsing", purpose::ask, "12345678").shown, texts{"0.188.97.78/"});
}

TEST(safe_browsing, what_is_no_prefix_of_enough_bytes_is_refused) {
  const auto why_not = [](std::string_view name, std::string_view line) {
    return read(name, purpose::insert, line).refused;
  };
  const texts wrong = {"ba7816bf8",      std::string(66, 'a'), "sha256:",
                       "sha256:ba7816b", "sha256:ba7816",      "sha256:ba7816bg"};
  for (const auto& line : wrong) {
    EXPECT_NE(why_not("safe-browsing", line).find("is no hash prefix"), std::string::npos) << line;
  }
  EXPECT_NE(why_not("safe-browsing:32", "ba7816bf").find("write safe-browsing:4"),
            std::string::npos);
  EXPECT_TRUE(why_not("safe-browsing", "mailto:x").starts_with("not a URL: "));
  for (const auto name : {"safe-browsing:3", "safe-browsing:33", "safe-browsing:x",
                          "safe-browsing:-4", "safe-browsing:99999999999999999999"}) {
    EXPECT_NE(why_not(name, "foo.com/").find("4 to 32 bytes"), std::string::npos) << name;
  }
  EXPECT_NE(read("url:4", purpose::ask, "x").refused.find("takes no argument"), std::string::npos);
}

TEST(safe_browsing, a_url_that_is_asked_has_the_keys_of_all_its_expressions) {
  const auto asked =
      read("safe-browsing:32", purpose::ask, "http://u@a.foo.com:80/1/../2.html?p=1#f");
  EXPECT_EQ(asked.shown, (texts{"a.foo.com/2.html?p=1", "a.foo.com/2.html", "a.foo.com/",
                                "foo.com/2.html?p=1", "foo.com/2.html", "foo.com/"}));
  ASSERT_EQ(asked.keys.size(), asked.shown.size());
  EXPECT_EQ(hex(asked.keys.back()), foo);
  // Each is the key that the expression has as a line of a list.
  for (std::size_t i = 0; i < asked.keys.size(); ++i) {
    const auto listed = read("safe-browsing:32", purpose::insert, asked.shown[i]);
    EXPECT_EQ(listed.keys, texts{asked.keys[i]}) << asked.shown[i];
  }
  EXPECT_EQ(read("safe-browsing", purpose::ask, "a.b.c.d.e.f.g/1/2/3/4/5?q").keys.size(), 30);
  EXPECT_EQ(read("safe-browsing", purpose::ask, "").keys, texts{});
  EXPECT_TRUE(read("safe-browsing", purpose::ask, "/x").refused.starts_with("not a URL: "));
}

}  // namespace
}  // namespace bloomery::keys
