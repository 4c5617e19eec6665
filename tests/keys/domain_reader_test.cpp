// The reader `domain`: names of block lists, their parents, and lines that are refused.

#include "tests/support/key_readers.hpp"

namespace bloomset::test {
namespace {

texts listed(std::string_view text, std::string_view record) {
  return keys_of(text, record, purpose::insert);
}

TEST(domain_reader, a_name_has_one_form) {
  for (const char* spelling : {"evil.example", "EVIL.Example", "evil.example.", " evil.example\r",
                               "*.evil.example", ".evil.example",
                               "\xef\xbb\xbf"
                               "evil.example"}) {
    EXPECT_EQ(listed("domain", spelling), texts{"evil.example"}) << spelling;
  }
  EXPECT_EQ(listed("domain",
                   "B\xc3\xbc"
                   "cher.example"),
            texts{"xn--bcher-kva.example"});
  EXPECT_EQ(listed("domain", "\xe2\x98\x83.example"), texts{"xn--n3h.example"});  // a snowman
  EXPECT_EQ(listed("domain", "_dmarc.a.example"), texts{"_dmarc.a.example"});
  EXPECT_EQ(listed("domain",
                   "r1---A.b\xc3\xbc"
                   "cher.example"),
            texts{"r1---a.xn--bcher-kva.example"});
  EXPECT_EQ(listed("domain", "zip"), texts{"zip"});
  EXPECT_EQ(listed("domain", "evil.example # a note"), texts{"evil.example"});
  EXPECT_EQ(listed("domain", "# Title"), texts{});
}

TEST(domain_reader, a_query_has_all_parents) {
  EXPECT_EQ(keys_of("domain", "A.b.evil.example.", purpose::ask),
            (texts{"a.b.evil.example", "b.evil.example", "evil.example", "example"}));
  EXPECT_EQ(keys_of("domain", "zip", purpose::ask), texts{"zip"});
  // A query is a name in every form of lists.
  EXPECT_EQ(keys_of("domain:adblock", "a.zip", purpose::ask), (texts{"a.zip", "zip"}));
}

TEST(domain_reader, lists_have_five_forms) {
  EXPECT_EQ(listed("domain:hosts", "0.0.0.0 Evil.example tracker.example # two"),
            (texts{"evil.example", "tracker.example"}));
  EXPECT_EQ(listed("domain:hosts", "127.0.0.1 localhost"), texts{});
  EXPECT_EQ(listed("domain:adblock", "||evil.example^$third-party"), texts{"evil.example"});
  for (const char* none : {"! Title", "@@||good.example^", "shop.example##.banner"}) {
    EXPECT_EQ(listed("domain:adblock", none), texts{}) << none;
  }
  for (const char* line :
       {"evil.example CNAME .", "*.evil.example 300 IN CNAME *.", "evil.example IN A 0.0.0.0",
        "evil.example IN 300 CNAME .", "evil.example 1h30m CNAME .",
        "evil.example cname rpz-drop. ; a comment"}) {
    EXPECT_EQ(listed("domain:rpz", line), texts{"evil.example"}) << line;
  }
  // A rule of a top-level domain blocks all names in it.
  EXPECT_EQ(listed("domain:adblock", "||zip^"), texts{"zip"});
  for (const char* none : {"; comment", "$TTL 60", "@ SOA a. b. 1 2 3 4 5", "  NS localhost.",
                           "good.example CNAME rpz-passthru."}) {
    EXPECT_EQ(listed("domain:rpz", none), texts{}) << none;
  }
  EXPECT_EQ(listed("domain:dnsmasq", "address=/evil.example/tracker.example/0.0.0.0"),
            (texts{"evil.example", "tracker.example"}));
  for (const char* line :
       {"address=/evil.example/#", "address=/evil.example/", "address=/evil.example/127.0.0.1",
        "address=/evil.example/::", "address = /evil.example/0.0.0.0", "local=/evil.example/",
        "server=/evil.example/ # a comment"}) {
    EXPECT_EQ(listed("domain:dnsmasq", line), texts{"evil.example"}) << line;
  }
  EXPECT_EQ(listed("domain:dnsmasq", "# comment"), texts{});
}

TEST(domain_reader, lines_that_block_no_name_are_refused) {
  const std::pair<const char*, const char*> lines[] = {
      {"domain", "a b"},
      {"domain", "192.0.2.1"},
      {"domain", "http://evil.example/"},
      {"domain", "evil..example"},
      {"domain", "."},
      {"domain:hosts", "10.1.2.3 intranet.example"},
      {"domain:adblock", "||evil.example/ads/"},
      {"domain:adblock", "/banner/"},
      {"domain:rpz", "32.1.0.0.10.rpz-ip CNAME ."},
      {"domain:rpz", "evil.example.rpz.local. CNAME ."},
      {"domain:rpz", "evil.example"},
      {"domain:rpz", "$ORIGIN example.rpz.local."},
      {"domain:rpz", "$INCLUDE more.rpz"},
      {"domain:dnsmasq", "server=/corp.example/10.0.0.1"},
      {"domain:dnsmasq", "local=/corp.example/10.0.0.1"},
      {"domain:dnsmasq", "address=/intranet.example/10.1.2.3"},
      {"domain:dnsmasq", "address=/intranet.example/eth0"},
      {"domain:dnsmasq", "cache-size=1000"},
      {"domain:dnsmasq", "address=/"},
      {"domain:dnsmasq", "address=//0.0.0.0"},
  };
  for (const auto& [reader, line] : lines) {
    EXPECT_GT(wrong(reader, line, purpose::insert).size(), 25U) << reader << ' ' << line;
  }
  EXPECT_NE(
      wrong("domain:hosts", "10.1.2.3 intranet.example", purpose::insert).find("real address"),
      std::string::npos);
  EXPECT_NE(refused("domain:unbound").find("the forms are hosts, adblock, rpz and dnsmasq"),
            std::string::npos);
  EXPECT_NE(wrong("domain", "a b").find("is not a domain"), std::string::npos);
}

TEST(domain_reader, a_line_of_another_form_names_the_form) {
  const std::pair<const char*, const char*> lines[] = {
      {"0.0.0.0 evil.example", "domain:hosts"},     {":: evil.example", "domain:hosts"},
      {"||evil.example^", "domain:adblock"},        {"! Title", "domain:adblock"},
      {"evil.example CNAME .", "domain:rpz"},       {"$TTL 60", "domain:rpz"},
      {"address=/evil.example/", "domain:dnsmasq"},
  };
  for (const auto& [line, form] : lines) {
    EXPECT_NE(wrong("domain", line, purpose::insert).find(form), std::string::npos) << line;
  }
  EXPECT_EQ(wrong("domain", "a b", purpose::insert).find("reads lists"), std::string::npos);
}

TEST(domain_reader, exceptions_are_counted) {
  for (const auto& [form, line, count] :
       {std::tuple{"domain:adblock", "@@||good.example^", 1U},
        std::tuple{"domain:adblock", "||evil.example^", 0U},
        std::tuple{"domain:rpz", "good.example CNAME rpz-passthru.", 1U},
        std::tuple{"safe-browsing:adblock", "@@||good.example^", 1U}}) {
    const auto reader = keys::make_reader(form, purpose::insert);
    keys::key_list list;
    ASSERT_TRUE(reader && (*reader)->read(line, list));
    EXPECT_EQ((*reader)->exceptions(), count) << form << ' ' << line;
  }
}

}  // namespace
}  // namespace bloomset::test
