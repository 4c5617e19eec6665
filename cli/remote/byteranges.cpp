#include "remote/byteranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace bloomset::cli {
namespace {

bool take(std::string_view& text, std::string_view prefix) noexcept {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<std::uint64_t> take_number(std::string_view& text) noexcept {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Removes the prefix in any case.
bool take_word(std::string_view& text, std::string_view lower_case) noexcept {
  if (text.size() < lower_case.size() ||
      !std::equal(lower_case.begin(), lower_case.end(), text.begin(),
                  [](char a, char b) { return a == lower(b); })) {
    return false;
  }
  text.remove_prefix(lower_case.size());
  return true;
}

void skip_spaces(std::string_view& text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
}

/// The value of Content-Range among the header lines of a part.
std::optional<content_range> range_of_part(std::string_view headers) noexcept {
  while (!headers.empty()) {
    const std::size_t end = std::min(headers.find("\r\n"), headers.size());
    std::string_view line = headers.substr(0, end);
    headers.remove_prefix(std::min(end + 2, headers.size()));
    if (!take_word(line, "content-range:")) continue;
    skip_spaces(line);
    return parse_content_range(line);
  }
  return std::nullopt;
}

}  // namespace

std::optional<content_range> parse_content_range(std::string_view text) noexcept {
  if (!take(text, "bytes ")) return std::nullopt;
  const auto first = take_number(text);
  if (!first || !take(text, "-")) return std::nullopt;
  const auto last = take_number(text);
  if (!last || !take(text, "/")) return std::nullopt;
  const auto size = take_number(text);
  if (!size || !text.empty() || *first > *last || *last >= *size) return std::nullopt;
  return content_range{{*first, *last + 1}, *size};
}

std::optional<std::uint64_t> parse_unsatisfied_range(std::string_view text) noexcept {
  if (!take(text, "bytes */")) return std::nullopt;
  const auto size = take_number(text);
  return text.empty() ? size : std::nullopt;
}

std::string multipart_boundary(std::string_view content_type) {
  if (!take_word(content_type, "multipart/byteranges")) return {};
  for (;;) {
    skip_spaces(content_type);
    if (!take(content_type, ";")) return {};
    skip_spaces(content_type);
    if (take_word(content_type, "boundary=")) break;
    content_type.remove_prefix(std::min(content_type.find(';'), content_type.size()));
  }
  if (take(content_type, "\"")) return std::string(content_type.substr(0, content_type.find('"')));
  return std::string(content_type.substr(0, content_type.find_first_of("; \t")));
}

result<void> read_multipart(
    std::span<const std::byte> body, std::string_view boundary,
    const std::function<result<void>(const content_range&, std::span<const std::byte>)>& use) {
  const auto malformed = [] {
    return fail(errc::corrupt, "an answer of several parts is malformed");
  };
  const std::string_view text(reinterpret_cast<const char*>(body.data()), body.size());
  const std::string delimiter = "--" + std::string(boundary);
  // Before the first delimiter there may be a line end; servers send nothing else there.
  std::size_t at = text.starts_with("\r\n") ? 2 : 0;
  for (;;) {
    if (!text.substr(at).starts_with(delimiter)) return malformed();
    at += delimiter.size();
    if (text.substr(at).starts_with("--")) return {};
    if (!text.substr(at).starts_with("\r\n")) return malformed();
    at += 2;
    const std::size_t end = text.find("\r\n\r\n", at);
    if (end == std::string_view::npos) return malformed();
    const auto range = range_of_part(text.substr(at, end - at));
    at = end + 4;
    if (!range || range->bytes.size() > text.size() - at) return malformed();
    const auto size = static_cast<std::size_t>(range->bytes.size());
    if (auto ok = use(*range, body.subspan(at, size)); !ok) return ok;
    at += size;
    if (!text.substr(at).starts_with("\r\n")) return malformed();
    at += 2;
  }
}

std::string range_header(std::span<const byte_interval> ranges) {
  std::string text = "bytes=";
  for (const byte_interval& each : ranges) {
    fmt::format_to(std::back_inserter(text), "{}{}-{}", &each == ranges.data() ? "" : ",",
                   each.begin, each.end - 1);
  }
  return text;
}

std::vector<byte_interval> join_near(std::span<const byte_interval> ranges, std::uint64_t gap) {
  std::vector<byte_interval> joined;
  for (const byte_interval& each : ranges) {
    if (!joined.empty() && each.begin - joined.back().end <= gap) {
      joined.back().end = each.end;
    } else {
      joined.push_back(each);
    }
  }
  return joined;
}

}  // namespace bloomset::cli
