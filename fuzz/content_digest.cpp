// A line as the name of a digest, then a content, cut into pieces by its own bytes: refused with a
// sentence, or the same key for any pieces, for each content in turn, and as the reader of that
// name makes of the content as a record.

#include <algorithm>
#include <bloomset/keys/content.hpp>
#include <bloomset/keys/reader.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

namespace k = bloomset::keys;

void require(bool holds, const char* what) {
  if (holds) return;
  (void)std::fprintf(stderr, "content_digest: %s\n", what);
  std::abort();
}

std::string finished(k::content_digest& digest) {
  k::key_list keys;
  require(digest.finish(keys).has_value(), "no key");
  require(keys.size() == 1, "another number of keys than one");
  return std::string(keys.all().front());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(text.find('\n'), size);
  const std::string_view name = text.substr(0, end);
  std::string_view content = text.substr(std::min(end + 1, size));
  const auto digest = k::content_digest::make(name);
  if (!digest) {
    require(digest.error().message.size() > 20 && digest.error().message.size() < 2 * size + 400,
            "a refusal without a sentence");
    return 0;
  }
  std::string whole(content);
  (*digest)->add(whole);
  const std::string key = finished(**digest);
  require(key.size() >= 16 && key.size() <= 64, "a key of another length");
  while (!content.empty()) {
    const std::size_t some = std::min<std::size_t>(
        content.size(), 1 + static_cast<unsigned char>(content.front()) % 100);
    std::string piece(content.substr(0, some));
    (*digest)->add(piece);
    content.remove_prefix(some);
  }
  require(finished(**digest) == key, "another key in pieces");
  const std::string digits = (*digest)->shown(key);
  require(digits.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos &&
              digits.size() % 32 % 8 == 0,
          "no digits");
  const auto reader = k::make_reader(name);
  require(reader.has_value(), "no reader of that name");
  k::key_list keys;
  if (whole.empty()) return 0;  // a record without a key
  require((*reader)->read(whole, keys).has_value() && keys.size() == 1 && keys.all().front() == key,
          "another key of the reader");
  return 0;
}
