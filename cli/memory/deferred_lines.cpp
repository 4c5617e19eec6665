#include "memory/deferred_lines.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "filters/flags.hpp"

namespace bloomset::cli {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
constexpr unsigned hash_parts = 256;

/// The distinct hashes of one part: open addressing, at most half full. A random multiplier chooses
/// the places, so that nobody can choose lines whose hashes crowd.
class hash_set {
 public:
  /// Returns whether the hash was not in the set.
  bool insert(hash64 h) {
    if (h.value == 0) return !std::exchange(has_zero_, true);
    if (2 * size_ >= places_.size()) grow();
    std::uint64_t& at = place_of(h.value);
    if (at == h.value) return false;
    at = h.value;
    ++size_;
    return true;
  }
  void clear() {
    std::fill(places_.begin(), places_.end(), 0);
    size_ = 0;
    has_zero_ = false;
  }

 private:
  std::uint64_t& place_of(std::uint64_t hash) noexcept {
    auto i = static_cast<std::size_t>(hash * multiplier_ >> shift_);
    while (places_[i] != 0 && places_[i] != hash) i = (i + 1) & (places_.size() - 1);
    return places_[i];
  }
  void grow() {
    const auto before =
        std::exchange(places_, std::vector<std::uint64_t>(std::size_t{1} << (64 - --shift_)));
    for (const std::uint64_t hash : before) {
      if (hash != 0) place_of(hash) = hash;
    }
  }

  std::vector<std::uint64_t> places_;  // 2^(64 - shift_) of them, or none
  unsigned shift_ = 51;
  std::uint64_t multiplier_ = 0x9e3779b97f4a7c15 * (2 * std::uint64_t{std::random_device()()} + 1);
  std::size_t size_ = 0;
  bool has_zero_ = false;
};

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
