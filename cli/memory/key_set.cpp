#include "memory/key_set.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace bloomset::cli {
namespace {

constexpr std::size_t key_block_bytes = std::size_t{1} << 18;
constexpr std::size_t first_places = std::size_t{1} << 10;

std::string_view key_at(const char* kept) noexcept {
  std::size_t size = 0;
  std::memcpy(&size, kept, sizeof size);
  return {kept + sizeof size, size};
}

}  // namespace

bool key_set::insert(hash64 h, std::string_view key) {
  if (4 * (size_ + 1) > 3 * table_.size()) grow();
  entry& at = table_[place_of(h, key)];
  if (at.key != nullptr) return false;
  at = {h.value, keep(key)};
  ++size_;
  return true;
}

bool key_set::contains(hash64 h, std::string_view key) const noexcept {
  return !table_.empty() && table_[place_of(h, key)].key != nullptr;
}

/// The place of the key, or the empty one where it belongs. Precondition: there is an empty place.
std::size_t key_set::place_of(hash64 h, std::string_view key) const noexcept {
  for (std::size_t i = h.value;; ++i) {
    const entry& at = table_[i & (table_.size() - 1)];
    if (at.key == nullptr || (at.hash == h.value && key_at(at.key) == key)) {
      return i & (table_.size() - 1);
    }
  }
}

const char* key_set::keep(std::string_view key) {
  const std::size_t size = key.size();
  const std::size_t needed = sizeof size + size;
  if (needed > free_bytes_) {
    free_bytes_ = std::max(needed, key_block_bytes);
    blocks_.emplace_back(new char[free_bytes_]);
    free_ = blocks_.back().get();
    bytes_of_keys_ += free_bytes_;
  }
  char* const kept = free_;
  std::memcpy(kept, &size, sizeof size);
  if (size != 0) std::memcpy(kept + sizeof size, key.data(), size);
  free_ += needed;
  free_bytes_ -= needed;
  return kept;
}

void key_set::grow() {
  const auto before =
      std::exchange(table_, std::vector<entry>(std::max(first_places, 2 * table_.size())));
  for (const entry& one : before) {
    if (one.key == nullptr) continue;
    std::size_t i = one.hash;
    while (table_[i & (table_.size() - 1)].key != nullptr) ++i;
    table_[i & (table_.size() - 1)] = one;
  }
}

}  // namespace bloomset::cli
