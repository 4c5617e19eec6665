#include "remote/http.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bloomset/plan/units.hpp>
#include <utility>
#include <vector>

#include "remote/byteranges.hpp"
#include "remote/connection.hpp"

namespace bloomset::cli {
namespace {

// Between two ranges, so many bytes cost less than the headers of a part of an answer.
constexpr std::uint64_t near_bytes = 128;
constexpr std::uint64_t answer_bytes = 256;  // of a part's headers, generously
constexpr std::size_t max_parts = 64;
constexpr std::uint64_t max_parted_bytes = std::uint64_t{1} << 20;  // in memory at once

bool is_part_or_whole(long status) noexcept {
  return status == 206 || status == 200;
}
bool is_any_answer(long status) noexcept {
  return status == 206 || status == 200 || status == 400 || status == 416;
}

}  // namespace

std::uint64_t http_file::cost_of(std::span<const byte_interval> ranges) noexcept {
  std::uint64_t cost = 0;
  for (const byte_interval& each : ranges) cost += each.size() + answer_bytes;
  return cost;
}

class http_file::state {
 public:
  state(connection made, const transfer_limits& limits)
      : connection_(std::move(made)), limits_(limits) {}

  result<void> begin(std::uint64_t first) {
    const byte_interval wanted{0, first};
    bool whole = false;
    const auto range = [&] {
      beginning_.clear();
      return range_header(std::span(&wanted, 1));
    };
    const auto head = connection_.get(
        range, is_part_or_whole,
        [&](const answer& answered, std::span<const std::byte> bytes) -> result<void> {
          whole = answered.status == 200;
          if (whole && answered.length.value_or(0) > limits_.max_bytes) return too_large();
          if (!whole && bytes.size() > first - beginning_.size()) return more_than_told();
          beginning_.insert(beginning_.end(), bytes.begin(), bytes.end());
          return {};
        });
    if (!head) return fail(head.error());
    if (head->status == 200) {
      version_ = version_of(*head, beginning_.size());
      ranges_ = false;
      return {};
    }
    const auto part = part_of(*head, wanted, nullptr);
    if (!part) return connection_.named_failure(part.error());
    if (beginning_.size() != part->bytes.size()) {
      return connection_.named_failure(less_than_told());
    }
    version_ = version_of(*head, part->size);
    return {};
  }

  result<void> read(std::span<const byte_interval> ranges, const part_sink& use) {
    const auto joined = join_near(ranges, near_bytes);
    for (std::size_t at = 0; at < joined.size();) {
      std::size_t end = at;
      std::uint64_t bytes = 0;
      while (end < joined.size() && end - at < max_parts &&
             (end == at || bytes + joined[end].size() <= max_parted_bytes)) {
        bytes += joined[end++].size();
      }
      const auto now = std::span(joined).subspan(at, end - at);
      // The headers of parts count, too, so that the limit is not exceeded by a whole answer.
      const std::uint64_t cost = now.size() > 1 && parts_ ? cost_of(now) : bytes;
      if (connection_.received() + cost > limits_.max_bytes) {
        return connection_.named_failure(
            fail(errc::unsupported,
                 fmt::format("the answers need more than the {} of --max-bytes; raise it, or "
                             "download the file and use it from there",
                             format_bytes(limits_.max_bytes))));
      }
      if (now.size() > 1 && parts_) {
        const auto sends_parts = read_parts(now, use);
        if (!sends_parts) return fail(sends_parts.error());
        parts_ = *sends_parts;
        if (!parts_) continue;
      } else {
        for (const byte_interval& each : now) {
          if (auto ok = read_one(each, use); !ok) return ok;
        }
      }
      at = end;
    }
    return {};
  }

  std::uint64_t bytes_left() const noexcept {
    return limits_.max_bytes - std::min(limits_.max_bytes, connection_.received());
  }

  connection connection_;
  transfer_limits limits_;
  file_version version_;
  bool ranges_ = true;
  std::vector<std::byte> beginning_;

 private:
  failure too_large() const {
    return fail(errc::unsupported,
                fmt::format("the server sends only the whole file, which has more than the {} of "
                            "--max-bytes; raise it, or download the file",
                            format_bytes(limits_.max_bytes)));
  }

  /// One range, in pieces. After a transient failure the rest is requested.
  result<void> read_one(byte_interval wanted, const part_sink& use) {
    byte_interval requested;
    const auto head = connection_.get(
        [&] {
          requested = wanted;
          return range_header(std::span(&requested, 1));
        },
        is_part_or_whole,
        [&](const answer& answered, std::span<const std::byte> bytes) -> result<void> {
          if (answered.status != 206) return whole_or_changed(answered);
          if (auto ok = part_of(answered, requested, &version_); !ok) {
            return fail(std::move(ok.error()));
          }
          if (bytes.size() > wanted.size()) return more_than_told();
          use(wanted.begin, bytes);
          wanted.begin += bytes.size();
          return {};
        });
    if (!head) return fail(head.error());
    if (wanted.size() == 0) return {};
    return connection_.named_failure(less_than_told());
  }

  failure whole_or_changed(const answer& answered) const {
    const file_version now = version_of(answered, answered.length.value_or(version_.size));
    if (!version_.agrees_with(now)) return changed_on_server();
    return fail(errc::unsupported,
                "the server sent a part of the file first and the whole file later; download it");
  }

  /// Several ranges by one request. False if the server does not send them.
  result<bool> read_parts(std::span<const byte_interval> wanted, const part_sink& use) {
    std::uint64_t most = 1024;
    for (const byte_interval& each : wanted) most += each.size() + 1024;
    std::vector<std::byte> body;
    bool refused = false;
    const auto head = connection_.get(
        [&] {
          body.clear();
          return range_header(wanted);
        },
        is_any_answer,
        [&](const answer& answered, std::span<const std::byte> bytes) -> result<void> {
          refused = answered.status != 206;
          if (refused) return fail(errc::unsupported, "");  // ends the transfer of the whole file
          if (body.size() + bytes.size() > most) return more_than_told();
          body.insert(body.end(), bytes.begin(), bytes.end());
          return {};
        });
    if (refused) return false;
    if (!head) return fail(head.error());
    if (head->status != 206) return false;
    const std::string boundary = multipart_boundary(head->type);
    // A server may send one range of several, or one that has them all.
    if (boundary.empty()) return false;
    std::vector<bool> found(wanted.size());
    const auto take = [&](const content_range& part,
                          std::span<const std::byte> bytes) -> result<void> {
      if (!version_.agrees_with(version_of(*head, part.size))) return changed_on_server();
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (wanted[i].begin < part.bytes.begin || wanted[i].end > part.bytes.end) continue;
        found[i] = true;
        const auto offset = static_cast<std::size_t>(wanted[i].begin - part.bytes.begin);
        use(wanted[i].begin, bytes.subspan(offset, static_cast<std::size_t>(wanted[i].size())));
      }
      return {};
    };
    if (auto ok = read_multipart(body, boundary, take); !ok) {
      ok.error().message += ok.error().code == errc::corrupt ? "; download the file" : "";
      return connection_.named_failure(std::move(ok.error()));
    }
    const auto lacking = std::ranges::find(found, false);
    if (lacking == found.end()) return true;
    const byte_interval first = wanted[static_cast<std::size_t>(lacking - found.begin())];
    return connection_.named_failure(
        fail(errc::corrupt, fmt::format("an answer lacks the bytes {} to {} that were requested; "
                                        "download the file",
                                        first.begin, first.end - 1)));
  }

  bool parts_ = true;  // whether the server sends several ranges at once
};

http_file::http_file(std::unique_ptr<state> made) noexcept : state_(std::move(made)) {}
http_file::http_file(http_file&&) noexcept = default;
http_file& http_file::operator=(http_file&&) noexcept = default;
http_file::~http_file() = default;

const std::string& http_file::name() const noexcept {
  return state_->connection_.name();
}
const file_version& http_file::version() const noexcept {
  return state_->version_;
}
bool http_file::has_ranges() const noexcept {
  return state_->ranges_;
}
std::span<const std::byte> http_file::beginning() const noexcept {
  return state_->beginning_;
}
std::uint64_t http_file::bytes_left() const noexcept {
  return state_->bytes_left();
}

result<http_file> http_file::open(const std::string& url, const transfer_limits& limits,
                                  std::uint64_t first) {
  auto made = connection::make(url, limits);
  if (!made) return fail(std::move(made.error()));
  auto file = std::make_unique<state>(std::move(*made), limits);
  if (auto ok = file->begin(first); !ok) return fail(std::move(ok.error()));
  return http_file(std::move(file));
}

result<void> http_file::read(std::span<const byte_interval> ranges, const part_sink& use) {
  return state_->read(ranges, use);
}

}  // namespace bloomset::cli
