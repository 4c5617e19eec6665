// The readers `pwned` and `password`: the formats of the downloads, and equal keys for a password
// and its line in the list.

#include <fmt/format.h>

#include "keys/src/md4.hpp"
#include "tests/support/key_readers.hpp"

namespace bloomset::test {
namespace {

const std::string sha1_of_password = "5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8";
const std::string ntlm_of_password = "8846F7EAEE8FB117AD06BDD830B7586C";

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
  // A list of hashes alone may be asked, but it does not tell which of them are frequent.
  EXPECT_EQ(keys_of("pwned:min=10", sha1_of_password), key);
  key_list none;
  const auto inserted = made("pwned:min=10", purpose::insert)->read(sha1_of_password, none);
  ASSERT_FALSE(inserted);
  EXPECT_TRUE(has(inserted.error().message, "no count"));
  for (const std::string& tail : {":"s, ":x"s, ":-1"s, ":1 "s, ":1:2"s, "::"s,
                                  ":18446744073709551616"s, ":1\r\r"s, ":1\0"s}) {
    EXPECT_TRUE(has(wrong("pwned", sha1_of_password + tail), "not a count")) << tail;
  }
  for (const std::string& record :
       {"x"s, sha1_of_password + "0:1", fmt::format("Z{}", sha1_of_password.substr(1)),
        " " + sha1_of_password, std::string(1 << 20, 'A'), "\0"s,
        sha1_of_password.substr(1) + "\0:1"s, fmt::format("G{}:0", sha1_of_password.substr(1))}) {
    EXPECT_TRUE(has(wrong("pwned", record), "not a hash of 40")) << record.substr(0, 50);
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
  EXPECT_FALSE(in_folder("00000.txt.bak"));
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
  // Signs of how a file was written are part of no password.
  EXPECT_EQ(keys_of("password",
                    "\xef\xbb\xbf"
                    "password"),
            texts{bytes(sha1_of_password)});
  EXPECT_EQ(keys_of("password:ntlm",
                    "\xef\xbb\xbf"
                    "password"),
            texts{bytes(ntlm_of_password)});
  for (const std::string reader : {"password", "password:ntlm"}) {
    EXPECT_TRUE(has(wrong(reader, "password\r"), "give --crlf"));
    EXPECT_FALSE(has(wrong(reader, "hunter2\r"), "hunter2"));
  }
  EXPECT_EQ(made("password")->shown("password", 0, bytes(sha1_of_password)), "");
  EXPECT_EQ(keys_of("password", std::string(1 << 20, 'p')),
            keys_of("sha1", std::string(1 << 20, 'p')));
}

}  // namespace
}  // namespace bloomset::test
