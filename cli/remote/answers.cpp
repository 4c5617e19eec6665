#include "remote/answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>

namespace bloomset::cli {

std::string_view trimmed(std::string_view text) noexcept {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
}

void answer::take(std::string_view line) {
  if (line.starts_with("HTTP/")) {
    *this = {};
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  std::string name(line.substr(0, colon));
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const std::string value(trimmed(line.substr(colon + 1)));
  if (name == "content-length") {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error == std::errc() && end == value.data() + value.size()) length = number;
  } else if (name == "content-type") {
    type = value;
  } else if (name == "content-range") {
    range = value;
  } else if (name == "etag") {
    etag = value;
  } else if (name == "last-modified") {
    modified = value;
  } else if (name == "content-encoding") {
    encoding = value;
  }
}

file_version version_of(const answer& head, std::uint64_t size) {
  return {size, head.etag, head.modified};
}

failure changed_on_server() {
  return fail(errc::incompatible,
              "the file on the server has changed meanwhile; run the command again");
}

failure wrong_range(const answer& head, std::string_view wanted) {
  return fail(
      errc::corrupt,
      fmt::format("the server sent '{}' where {} were requested; the server or a proxy does "
                  "not know ranges, so download the file",
                  head.range.empty() ? "no Content-Range" : head.range, wanted));
}

result<content_range> part_of(const answer& head, byte_interval wanted, const file_version* known) {
  const auto range = parse_content_range(head.range);
  const auto text = range_header(std::span(&wanted, 1));
  if (!range || range->bytes.begin != wanted.begin || range->bytes.end > wanted.end) {
    return wrong_range(head, text);
  }
  if (known != nullptr && !known->agrees_with(version_of(head, range->size)))
    return changed_on_server();
  if (range->bytes.end != std::min(wanted.end, range->size)) return wrong_range(head, text);
  return *range;
}

failure more_than_told() {
  return fail(errc::corrupt,
              "the server sent more bytes than it had announced; download the file another way");
}

failure less_than_told() {
  return fail(errc::corrupt,
              "the server sent fewer bytes than it had announced; download the file another way");
}

}  // namespace bloomset::cli
