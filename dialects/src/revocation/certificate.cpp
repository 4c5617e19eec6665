#include "certificate.hpp"

#include <charconv>
#include <utility>

#include "hex.hpp"

namespace bloomset::dialects {
namespace {

constexpr std::size_t id_digits = 2 * id_bytes;

/// The text before the first such character, which is removed with the text. The whole text if it
/// has no such character.
std::string_view take_until(std::string_view& text, char end) noexcept {
  const auto at = text.find(end);
  const auto first = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return first;
}

std::optional<std::uint64_t> whole_number(std::string_view text) noexcept {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return value;
}

/// Appends the identifiers of a list LOG@REST,LOG@REST,... and calls `use(rest)` for each.
template <class Use>
bool put_logs(std::string_view list, std::vector<std::byte>& to, Use&& use) {
  // A list does not end in a comma.
  if (list.empty() || list.back() == ',') return false;
  while (!list.empty()) {
    std::string_view rest = take_until(list, ',');
    const std::string_view log = take_until(rest, '@');
    if (log.size() != id_digits || !put_hex(log, to) || !use(rest)) return false;
  }
  return true;
}

}  // namespace

std::optional<certificate> read_certificate(std::string_view text,
                                            std::vector<std::byte>& scratch) {
  scratch.clear();
  const std::string_view issuer = take_until(text, ':');
  const bool has_logs = text.find(':') != std::string_view::npos;
  const std::string_view serial = take_until(text, ':');
  if (issuer.size() != id_digits || serial.empty() || !put_hex(issuer, scratch) ||
      !put_hex(serial, scratch)) {
    return std::nullopt;
  }
  const std::size_t key_bytes = scratch.size();
  certificate made;
  if (has_logs && !put_logs(text, scratch, [&](std::string_view time) {
        const auto value = whole_number(time);
        if (value) made.logs.push_back({{}, *value});
        return value.has_value();
      })) {
    return std::nullopt;
  }
  // The memory moves no more.
  const std::span<const std::byte> all(scratch);
  made.bytes = all.first(key_bytes);
  for (std::size_t i = 0; i < made.logs.size(); ++i) {
    made.logs[i].log = all.subspan(key_bytes + i * id_bytes, id_bytes);
  }
  return made;
}

std::optional<std::vector<log_interval>> read_intervals(std::string_view text,
                                                        std::vector<std::byte>& scratch) {
  scratch.clear();
  std::vector<log_interval> made;
  if (!put_logs(text, scratch, [&](std::string_view times) {
        const auto low = whole_number(take_until(times, '-'));
        const auto high = whole_number(times);
        if (low && high) made.push_back({{}, *low, *high});
        return low && high;
      })) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < made.size(); ++i) {
    made[i].log = std::span<const std::byte>(scratch).subspan(i * id_bytes, id_bytes);
  }
  return made;
}

}  // namespace bloomset::dialects
