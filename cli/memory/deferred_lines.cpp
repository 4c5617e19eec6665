#include "memory/deferred_lines.hpp"

#include <algorithm>
#include <utility>

#include "filters/flags.hpp"
#include "memory/hash_set.hpp"

namespace bloomset::cli {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
constexpr unsigned hash_parts = 256;

}  // namespace

deferred_lines::deferred_lines(waiting_lines lines, parted_file<record> keys, std::size_t memory)
    : lines_(std::move(lines)),
      keys_(std::move(keys)),
      // A buffer of records is sorted into memory of the same size.
      max_records_(std::max(memory, 4 * buffer_bytes) / 2 / sizeof(record)) {}

result<deferred_lines> deferred_lines::make(std::size_t memory, char end) {
  auto lines = waiting_lines::make(end);
  if (!lines) return fail(std::move(lines.error()));
  auto keys = parted_file<record>::make(hash_parts);
  if (!keys) return fail(std::move(keys.error()));
  return deferred_lines(std::move(*lines), std::move(*keys), memory);
}

result<void> deferred_lines::add(std::string_view line, std::span<const hash64> keys) {
  for (const hash64 h : keys) key_buffer_.push_back({h, lines_.size()});
  if (auto ok = lines_.add(line, keys.empty()); !ok) return ok;
  return key_buffer_.size() < max_records_ ? result<void>() : write_keys();
}

result<void> deferred_lines::write_keys() {
  auto ok = keys_.append(key_buffer_);
  key_buffer_.clear();
  return ok;
}

result<void> deferred_lines::choose_new() {
  if (auto ok = write_keys(); !ok) return ok;
  hash_set seen;
  return keys_.for_each(
      buffer_bytes / sizeof(record),
      [&](std::span<const record> some) -> result<void> {
        for (const record& one : some) {
          if (seen.insert(one.hash)) lines_.choose(one.line);
        }
        return {};
      },
      [&] { seen.clear(); });
}

result<void> deferred_lines::choose_members(const any_filter& filter) {
  if (auto ok = write_keys(); !ok) return ok;
  std::vector<hash64> hashes;
  flags memory;
  return keys_.for_each(
      buffer_bytes / sizeof(record),
      [&](std::span<const record> some) -> result<void> {
        hashes.clear();
        for (const record& one : some) hashes.push_back(one.hash);
        const auto found = memory.first(some.size());
        if (auto ok = filter.may_contain(hashes, found); !ok) return ok;
        for (std::size_t i = 0; i < some.size(); ++i) {
          if (found[i]) lines_.choose(some[i].line);
        }
        return {};
      },
      [] {});
}

}  // namespace bloomset::cli
