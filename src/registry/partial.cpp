#include <bloomset/partial.hpp>

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/format.hpp"
#include "core/system.hpp"
#include "file/announced.hpp"

namespace bloomset {
namespace {

constexpr std::uint64_t first_bytes = 4096;

/// Sorts ranges, and joins those that touch.
void join(std::vector<byte_interval>& ranges) {
  std::ranges::sort(ranges, {}, &byte_interval::begin);
  std::size_t kept = 0;
  for (const byte_interval& each : ranges) {
    if (kept != 0 && each.begin <= ranges[kept - 1].end) {
      ranges[kept - 1].end = std::max(ranges[kept - 1].end, each.end);
    } else {
      ranges[kept++] = each;
    }
  }
  ranges.resize(kept);
}

}  // namespace

result<partial_file> partial_file::make(std::uint64_t size) {
  const auto refuse = [size] {
    return detail::format_failure(
        errc::out_of_memory, "no address space for a file of {} bytes; use a smaller one", size);
  };
  if (size > std::numeric_limits<std::size_t>::max() / 2) return refuse();
  if (size == 0) return partial_file(nullptr, 0, mapped_storage());
  const auto room = static_cast<std::size_t>(size);
  std::byte* const bytes = detail::map_sparse(room);
  if (bytes == nullptr) return refuse();
  std::shared_ptr<const void> owner(
      bytes, [bytes, room](const void*) { detail::unmap_sparse(bytes, room); });
  return partial_file(bytes, size, mapped_storage(std::move(owner), {bytes, room}));
}

bool partial_file::has(byte_interval range) const noexcept {
  if (range.begin >= range.end) return true;
  auto run = runs_.upper_bound(range.begin);
  if (run == runs_.begin()) return false;
  --run;
  return range.end <= run->second;
}

void partial_file::put(std::uint64_t at, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  std::memcpy(bytes_ + at, bytes.data(), bytes.size());
  byte_interval run{at, at + bytes.size()};
  // All runs that it touches become one with it.
  auto next = runs_.upper_bound(run.begin);
  if (next != runs_.begin() && std::prev(next)->second >= run.begin) --next;
  while (next != runs_.end() && next->first <= run.end) {
    run = {std::min(run.begin, next->first), std::max(run.end, next->second)};
    present_ -= next->second - next->first;
    next = runs_.erase(next);
  }
  runs_.emplace_hint(next, run.begin, run.end);
  present_ += run.size();
}

result<std::vector<byte_interval>> missing_to_open(const partial_file& file,
                                                   const std::string& name) {
  const auto whole = file.storage().bytes();
  const byte_interval first{0, std::min(first_bytes, file.size())};
  if (!file.has(first)) return std::vector{first};
  if (has_signature(whole) && whole.size() >= detail::file_header_bytes) {
    const std::uint64_t payload_at = detail::announced_payload_at(whole);
    const byte_interval header{0, std::min(payload_at, file.size())};
    if (!file.has(header)) return std::vector{byte_interval{first.end, header.end}};
  }
  auto stored = read_stored(file.storage(), verification::header, name);
  if (!stored) return fail(std::move(stored.error()));
  const kind_info* const kind = find_kind(stored->header.kind);
  if (kind == nullptr || kind->trace_open == nullptr) {
    return detail::format_failure(
        errc::unsupported,
        "{}: only filters of kind {} can be queried in part, and this is {}; use the whole file",
        name, kinds_that([](const kind_info& row) { return row.trace_open != nullptr; }, " and "),
        kind != nullptr                                  ? kind->name
        : stored->header.kind == filter_kind::file_index ? "an index of files"
                                                         : "of an unknown kind");
  }
  const auto read = kind->trace_open(*stored);
  if (!read) {
    return fail(failure{read.error().code, name + ": " + read.error().message, 0});
  }
  const std::uint64_t payload_at = file.size() - stored->payload.bytes().size();
  std::vector<byte_interval> missing;
  for (const byte_interval bytes : *read) {
    if (bytes.begin > bytes.end || bytes.end > stored->payload.bytes().size()) {
      return detail::format_failure(
          errc::corrupt, "{}: its payload does not fit its parameters; the file is damaged", name);
    }
    const byte_interval in_file{payload_at + bytes.begin, payload_at + bytes.end};
    if (!file.has(in_file)) missing.push_back(in_file);
  }
  join(missing);
  return missing;
}

std::vector<byte_interval> missing_to_query(const partial_file& file, const any_filter& filter,
                                            std::span<const std::string_view> keys) {
  const std::uint64_t payload_at = file.size() - filter.size_in_bytes();
  std::vector<byte_interval> missing;
  for (const std::string_view key : keys) {
    filter.trace(key, [&](byte_interval bytes) {
      const byte_interval in_file{payload_at + bytes.begin, payload_at + bytes.end};
      const bool here = file.has(in_file);
      if (!here) missing.push_back(in_file);
      return here;
    });
  }
  join(missing);
  return missing;
}

}  // namespace bloomset
