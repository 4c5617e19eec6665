#include "remote/download.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bloomset/plan/units.hpp>

#include "remote/connection.hpp"

namespace bloomset::cli {

result<file_version> download(const std::string& url, std::uint64_t have,
                              const std::optional<file_version>& expected,
                              const transfer_limits& limits, const stream_sink& use) {
  auto made = connection::make(url, limits);
  if (!made) return fail(std::move(made.error()));
  std::uint64_t at = have;  // the next byte for `use`
  std::optional<file_version> version = expected;
  std::uint64_t arriving = 0;  // the offset of the next byte of this answer
  bool begun = false;          // whether a byte of this answer has arrived
  const auto range = [&] {
    begun = false;
    return at == 0 ? std::string() : fmt::format("bytes={}-", at);
  };
  const auto take = [&](const answer& head, std::span<const std::byte> bytes) -> result<void> {
    if (head.status == 416) return {};
    if (!begun) {
      const auto part = parse_content_range(head.range);
      if (head.status == 206 && (!part || part->bytes.begin != at)) {
        return wrong_range(head, fmt::format("bytes from {} on", at));
      }
      arriving = part ? part->bytes.begin : 0;
      // Without a length the size is known at the end alone.
      const std::uint64_t size = part ? part->size : head.length.value_or(0);
      if (size > limits.max_bytes) {
        return fail(errc::unsupported,
                    fmt::format("the file has {}, more than the allowed {}", format_bytes(size),
                                format_bytes(limits.max_bytes)));
      }
      const file_version now = version_of(head, size);
      if (version && size != 0 && !version->agrees_with(now)) return changed_on_server();
      if (!version || version->size == 0) version = now;
      begun = true;
    }
    // A server without ranges sends the first bytes again.
    const std::uint64_t skipped =
        at > arriving ? std::min<std::uint64_t>(at - arriving, bytes.size()) : 0;
    arriving += bytes.size();
    if (version->size != 0 && arriving > version->size) return more_than_told();
    const auto fresh = bytes.subspan(static_cast<std::size_t>(skipped));
    at += fresh.size();
    return fresh.empty() ? result<void>() : use(fresh);
  };
  const auto head = made->get(
      range, [](long status) { return status == 206 || status == 200 || status == 416; }, take);
  if (!head) return fail(head.error());
  if (head->status == 416) {
    // All bytes are there already, or the file is shorter than what is there.
    const auto size = parse_unsatisfied_range(head->range);
    file_version now = version_of(*head, size.value_or(0));
    if (size != at || (version && !version->agrees_with(now))) {
      return made->named_failure(changed_on_server());
    }
    return now;
  }
  if (!version) version = version_of(*head, at);
  if (version->size == 0) version->size = at;
  if (at != version->size) return made->named_failure(changed_on_server());
  return *version;
}

}  // namespace bloomset::cli
