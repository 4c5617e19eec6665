// Two numbers, a requested range, then lines as the headers of an HTTP answer to it: refused with a
// sentence, or a part that begins where it was requested to and ends there at the latest, and that
// is of the same state of the file as the answer before.

#include "remote/answers.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

namespace cli = bloomset::cli;

void require(bool holds, const char* what) {
  if (holds) return;
  (void)std::fprintf(stderr, "answers: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  std::uint16_t begin = 0;
  std::uint16_t length = 0;
  std::memcpy(&begin, data, sizeof begin);
  std::memcpy(&length, data + 2, sizeof length);
  const bloomset::byte_interval wanted{begin, begin + std::uint64_t{length} + 1};
  std::string_view text(reinterpret_cast<const char*>(data + 4), size - 4);
  cli::answer head;
  std::optional<cli::file_version> known;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = text.substr(0, end + 1);
    text.remove_prefix(end + 1);
    head.take(line);
    if (cli::trimmed(line).empty() || text.empty()) {
      // The end of an answer's headers.
      const auto part = cli::part_of(head, wanted, known ? &*known : nullptr);
      if (part) {
        require(part->bytes.begin == wanted.begin && part->bytes.end <= wanted.end &&
                    part->bytes.begin < part->bytes.end && part->bytes.end <= part->size,
                "a part outside of the range");
        require(part->bytes.end == std::min(wanted.end, part->size), "a part that ends too early");
        const cli::file_version now = cli::version_of(head, part->size);
        require(!known || known->agrees_with(now), "a part of another file");
        if (!known) known = now;
      } else {
        require(part.error().message.size() > 20, "a refusal without a sentence");
      }
    }
  }
  return 0;
}
