// Digests of contents in pieces, which are the keys that readers make of the whole as one record.

#include <bloomset/keys/content.hpp>

#include "tests/support/key_readers.hpp"

namespace bloomset::test {
namespace {

TEST(content, a_digest_is_that_of_the_reader) {
  const std::string text(100'000, 'x');
  for (const std::string name : {"md5", "sha1", "sha256", "sha1:upper", "md5:lower"}) {
    const auto digest = keys::content_digest::make(name);
    ASSERT_TRUE(digest) << digest.error().message;
    for (const std::size_t piece : {std::size_t{1}, std::size_t{63}, text.size()}) {
      for (std::size_t at = 0; at < text.size(); at += piece) {
        (*digest)->add(std::span(text).subspan(at, std::min(piece, text.size() - at)));
      }
      key_list keys;
      ASSERT_TRUE((*digest)->finish(keys));
      EXPECT_EQ(texts(keys.all().begin(), keys.all().end()), keys_of(name, text)) << name;
    }
  }
}

TEST(content, other_readers_are_refused) {
  for (const std::string name : {"lines", "md4", "sha1:middle", "sha1:", "", "password:ntlm"}) {
    EXPECT_FALSE(keys::content_digest::make(name)) << name;
  }
}

}  // namespace
}  // namespace bloomset::test
