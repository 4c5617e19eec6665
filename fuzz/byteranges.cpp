// Any line as a Content-Type or Content-Range, and any bytes behind it as the body of an answer of
// several parts: refused with a sentence, or parts that are inside the body, one after the other.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "remote/byteranges.hpp"

namespace {

namespace cli = bloomset::cli;

void require(bool holds, const char* what) {
  if (holds) return;
  (void)std::fprintf(stderr, "byteranges: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(text.find('\n'), size);
  const std::string_view header = text.substr(0, end);
  const auto body = std::as_bytes(std::span(text.substr(std::min(end + 1, size))));
  if (const auto range = cli::parse_content_range(header)) {
    require(range->bytes.begin < range->bytes.end && range->bytes.end <= range->size,
            "a range outside of its file");
  }
  (void)cli::parse_unsatisfied_range(header);
  std::string boundary = cli::multipart_boundary(header);
  if (boundary.empty()) boundary = header;
  const std::byte* after = body.data();
  const auto done = cli::read_multipart(
      body, boundary, [&](const cli::content_range& range, std::span<const std::byte> bytes) {
        require(range.bytes.size() == bytes.size(), "a part of another size");
        require(bytes.data() >= after && bytes.data() + bytes.size() <= body.data() + body.size(),
                "a part outside of the body");
        after = bytes.data() + bytes.size();
        return bloomset::result<void>();
      });
  require(done.has_value() || !done.error().message.empty(), "a refusal without a sentence");
  return 0;
}
