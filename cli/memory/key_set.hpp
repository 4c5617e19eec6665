#pragma once

// A set of keys that compares their bytes.

#include <bloomset/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace bloomset::cli {

/// Keys with their hashes. Equal hashes make it slow, never wrong, so the hash function should have
/// a secret key.
///
/// Memory      the keys, and 40 bytes for each on average
class key_set {
 public:
  /// Returns whether the key was not in the set.
  bool insert(hash64 h, std::string_view key);
  bool contains(hash64 h, std::string_view key) const noexcept;
  std::size_t size() const noexcept { return size_; }
  /// Its memory, and that which its next growth needs.
  std::size_t size_in_bytes() const noexcept {
    return bytes_of_keys_ + 3 * sizeof(entry) * table_.size();
  }

 private:
  struct entry {
    std::uint64_t hash = 0;
    const char* key = nullptr;  // its length, then its bytes; null: an empty place
  };

  std::size_t place_of(hash64 h, std::string_view key) const noexcept;
  const char* keep(std::string_view key);
  void grow();

  std::vector<entry> table_;  // open addressing, at most three quarters full; a power of two
  std::size_t size_ = 0;
  std::vector<std::unique_ptr<char[]>> blocks_;  // NOLINT(modernize-avoid-c-arrays)
  std::size_t bytes_of_keys_ = 0;
  char* free_ = nullptr;  // in the last block
  std::size_t free_bytes_ = 0;
};

}  // namespace bloomset::cli
