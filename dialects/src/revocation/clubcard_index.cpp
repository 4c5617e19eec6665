#include "clubcard_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "options.hpp"

namespace bloomset::dialects {
namespace {

constexpr std::string_view signature = "upkiidx";
constexpr std::size_t signature_bytes = signature.size() + 1;
constexpr std::size_t name_bytes = 32;
constexpr std::size_t log_bytes = id_bytes + 10;

/// Whether an index can store the name. No such name leaves the index's folder.
bool is_name(std::string_view name) noexcept {
  constexpr std::string_view allowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
  return !name.empty() && name.size() <= name_bytes && name != "." && name != ".." &&
         name.find_first_not_of(allowed) == std::string_view::npos;
}

/// Zeros follow a name's characters.
result<std::string> read_name(std::span<const std::byte> field) {
  const std::string_view text(reinterpret_cast<const char*>(field.data()), field.size());
  const std::string_view name = text.substr(0, text.find('\0'));
  const bool is_padded = text.find_first_not_of('\0', name.size()) == std::string_view::npos;
  if (!is_padded || !is_name(name)) {
    return fail(errc::corrupt,
                "a file's name in it has other characters than letters, digits, '-', '.' and '_'; "
                "get the index anew");
  }
  return std::string(name);
}

}  // namespace

std::vector<std::size_t> clubcard_index::files_for(std::span<const log_entry> of) const {
  std::vector<std::size_t> found;
  for (const log_entry& each : of) {
    const auto at =
        std::lower_bound(logs.begin(), logs.end(), each.log,
                         [](const log& a, const auto& b) { return bytes_less(a.id, b); });
    if (at == logs.end() || !std::ranges::equal(at->id, each.log)) continue;
    for (const entry& interval : at->entries) {
      if (interval.low <= each.time && each.time <= interval.high) found.push_back(interval.file);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<covered_interval> intervals_of(const clubcard_index& index) {
  std::vector<covered_interval> all;
  for (const clubcard_index::log& log : index.logs) {
    for (const auto& each : log.entries) all.push_back({{log.id, each.low, each.high}, each.file});
  }
  return all;
}

std::vector<covered_interval> intervals_of(const clubcard& card) {
  std::vector<covered_interval> all;
  all.reserve(card.coverage.size());
  for (const log_interval& each : card.coverage) all.push_back({each, 0});
  return all;
}

result<std::vector<std::byte>> write_clubcard_index(std::span<const std::string> files,
                                                    std::vector<covered_interval> intervals) {
  constexpr std::size_t max_count = std::numeric_limits<std::uint16_t>::max();
  constexpr std::size_t entry_bytes = 18;
  for (const std::string& name : files) {
    if (is_name(name)) continue;
    return fail(errc::incompatible,
                fmt::format("an index cannot name the file '{}': a name has at most 32 letters, "
                            "digits, '-', '.' and '_'",
                            name));
  }
  if (files.size() > max_count) return fail(errc::full, "an index names at most 65,535 filters");
  std::sort(intervals.begin(), intervals.end(),
            [](const covered_interval& a, const covered_interval& b) {
              if (!std::ranges::equal(a.interval.log, b.interval.log)) {
                return bytes_less(a.interval.log, b.interval.log);
              }
              return std::tie(a.file, a.interval.low, a.interval.high) <
                     std::tie(b.file, b.interval.low, b.interval.high);
            });
  // The intervals of a log follow each other, in the directory's order.
  std::vector<std::size_t> counts;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const bool is_first =
        i == 0 || !std::ranges::equal(intervals[i].interval.log, intervals[i - 1].interval.log);
    if (is_first) counts.push_back(0);
    if (++counts.back() > max_count) {
      return fail(errc::full, "an index has at most 65,535 intervals of a log");
    }
  }
  std::vector<std::byte> bytes;
  const auto append = [&](std::span<const std::byte> more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
  };
  append(std::as_bytes(std::span(signature)));
  bytes.push_back(std::byte{'1'});
  put_big(bytes, static_cast<std::uint16_t>(files.size()));
  put_big(bytes, static_cast<std::uint32_t>(counts.size()));
  for (const std::string& name : files) {
    append(std::as_bytes(std::span(name)));
    bytes.resize(bytes.size() + name_bytes - name.size());
  }
  std::uint64_t offset = bytes.size() + counts.size() * log_bytes;
  std::size_t first = 0;
  for (const std::size_t count : counts) {
    append(intervals[first].interval.log);
    put_big(bytes, offset);
    put_big(bytes, static_cast<std::uint16_t>(count));
    offset += count * entry_bytes;
    first += count;
  }
  for (const covered_interval& each : intervals) {
    put_big(bytes, static_cast<std::uint16_t>(each.file));
    put_big(bytes, each.interval.low);
    put_big(bytes, each.interval.high);
  }
  return bytes;
}

bool is_clubcard_index(std::span<const std::byte> bytes) noexcept {
  return bytes.size() >= signature_bytes &&
         std::string_view(reinterpret_cast<const char*>(bytes.data()), signature.size()) ==
             signature;
}

result<clubcard_index> read_clubcard_index(std::span<const std::byte> bytes) {
  const auto cut = [](std::string_view what) {
    return fail(errc::corrupt, fmt::format("it ends within its {}; get the index anew", what));
  };
  const auto version = std::to_integer<unsigned>(bytes[signature.size()]) - '0';
  if (version > 1) {
    return fail(errc::unsupported,
                "its first bytes say another version than upkiidx0 and upkiidx1");
  }
  // Version 0 numbers the files by one byte, version 1 by two.
  const std::size_t number_bytes = version + 1;
  const auto file_number = [&](const std::byte* at) -> std::size_t {
    return version == 0 ? std::to_integer<std::size_t>(*at) : big_endian<std::uint16_t>(at);
  };
  clubcard_index made;
  made.version = version;
  std::size_t at = signature_bytes;
  if (bytes.size() - at < number_bytes + 4) return cut("header");
  const std::size_t files = file_number(bytes.data() + at);
  const std::size_t logs = big_endian<std::uint32_t>(bytes.data() + at + number_bytes);
  at += number_bytes + 4;
  if ((bytes.size() - at) / name_bytes < files) return cut("file names");
  for (std::size_t i = 0; i < files; ++i, at += name_bytes) {
    auto name = read_name(bytes.subspan(at, name_bytes));
    if (!name) return fail(std::move(name.error()));
    made.files.push_back(std::move(*name));
  }
  std::vector<std::string> sorted = made.files;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) {
    return fail(errc::corrupt, "the index names a file twice; get the whole folder again");
  }
  if ((bytes.size() - at) / log_bytes < logs) return cut("logs");
  const std::size_t entry_bytes = number_bytes + 16;
  // Intervals of several logs do not share bytes, so that memory is in proportion to the file.
  std::size_t entries = 0;
  for (std::size_t i = 0; i < logs; ++i, at += log_bytes) {
    clubcard_index::log log{bytes.subspan(at, id_bytes)};
    const auto offset = big_endian<std::uint64_t>(bytes.data() + at + id_bytes);
    const std::size_t count = big_endian<std::uint16_t>(bytes.data() + at + id_bytes + 8);
    if (i != 0 && !bytes_less(made.logs.back().id, log.id)) {
      return fail(errc::corrupt, fmt::format("log {} is not in the order of the identifiers, which "
                                             "are sorted; get the index anew",
                                             i + 1));
    }
    entries += count;
    if (offset > bytes.size() || (bytes.size() - offset) / entry_bytes < count ||
        entries > bytes.size() / entry_bytes) {
      return fail(errc::corrupt,
                  fmt::format("log {} says {} intervals at byte {}, which are not in its {} bytes",
                              i + 1, count, offset, bytes.size()));
    }
    const std::byte* from = bytes.data() + offset;
    for (std::size_t e = 0; e < count; ++e, from += entry_bytes) {
      const std::size_t file = file_number(from);
      if (file >= files) {
        return fail(errc::corrupt, fmt::format("log {} names file {} of {}; get the index anew",
                                               i + 1, file + 1, files));
      }
      log.entries.push_back({file, big_endian<std::uint64_t>(from + number_bytes),
                             big_endian<std::uint64_t>(from + number_bytes + 8)});
    }
    made.logs.push_back(std::move(log));
  }
  return made;
}

}  // namespace bloomset::dialects
