#include "memory/exact_lines.hpp"

#include <algorithm>
#include <cstring>

#include "memory/key_set.hpp"

namespace bloomset::cli {
namespace {

/// What precedes the bytes of a key on disk.
struct key_record {
  std::uint64_t hash;
  std::uint64_t line;
  std::uint64_t size;
};

constexpr std::size_t min_memory = std::size_t{1} << 20;
constexpr std::uint64_t max_shares = std::uint64_t{1} << 24;

}  // namespace

result<exact_lines> exact_lines::make(std::size_t memory, char end) {
  auto lines = waiting_lines::make(end);
  if (!lines) return fail(std::move(lines.error()));
  auto keys = temporary_file::make();
  if (!keys) return fail(std::move(keys.error()));
  return exact_lines(std::move(*lines), std::move(*keys), memory);
}

result<void> exact_lines::add(std::string_view line, std::span<const hashed_key> keys) {
  for (const hashed_key& key : keys) {
    const key_record record{key.hash.value, lines_.size(), key.bytes.size()};
    std::vector<char>& into = groups_[key.hash.value >> 56].buffer;
    const auto* const begin = reinterpret_cast<const char*>(&record);
    into.insert(into.end(), begin, begin + sizeof record);
    into.insert(into.end(), key.bytes.begin(), key.bytes.end());
    buffered_ += sizeof record + key.bytes.size();
  }
  if (auto ok = lines_.add(line, keys.empty()); !ok) return ok;
  // Buffers have up to twice the memory of their content.
  return buffered_ < std::max(memory_ / 4, min_memory) ? result<void>() : write_keys();
}

result<void> exact_lines::write_keys() {
  for (group& each : groups_) {
    if (each.buffer.empty()) continue;
    each.on_disk.push_back({keys_.size(), each.buffer.size()});
    if (auto ok = keys_.append(std::as_bytes(std::span(each.buffer))); !ok) return ok;
    each.buffer = {};
  }
  buffered_ = 0;
  return {};
}

result<void> exact_lines::choose_new(std::size_t memory) {
  memory_ = std::max(memory, min_memory);
  if (auto ok = write_keys(); !ok) return ok;
  for (const group& each : groups_) {
    if (auto ok = choose_share(each, 0, 1); !ok) return ok;
  }
  return {};
}

result<void> exact_lines::choose_share(const group& keys, std::uint64_t share,
                                       std::uint64_t shares) {
  const auto fits = compare(keys, share, shares);
  if (!fits) return fail(fits.error());
  if (*fits) return {};
  // Lines that were chosen already are chosen again.
  if (auto ok = choose_share(keys, share, 2 * shares); !ok) return ok;
  return choose_share(keys, share + shares, 2 * shares);
}

result<bool> exact_lines::compare(const group& keys, std::uint64_t share, std::uint64_t shares) {
  key_set seen;
  std::vector<char> bytes;
  for (const extent& from : keys.on_disk) {
    bytes.resize(from.size);
    if (auto ok = keys_.read(from.begin, std::as_writable_bytes(std::span(bytes))); !ok) {
      return fail(ok.error());
    }
    for (std::size_t at = 0; at < bytes.size();) {
      key_record record{};
      std::memcpy(&record, bytes.data() + at, sizeof record);
      at += sizeof record;
      const std::string_view key(bytes.data() + at, record.size);
      at += record.size;
      // The lowest bits choose the place in the set, the highest ones the group.
      if ((record.hash << 8 >> 40) % shares != share) continue;
      if (!seen.insert(hash64{record.hash}, key)) continue;
      lines_.choose(record.line);
      if (seen.size() > 1 && shares < max_shares && seen.size_in_bytes() > memory_) return false;
    }
  }
  return true;
}

}  // namespace bloomset::cli
