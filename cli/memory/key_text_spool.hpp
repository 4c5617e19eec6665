#pragma once

// The keys of a stream that is read again.

#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "memory/temporary_file.hpp"

namespace bloomset::cli {

/// Keeps the bytes of keys in memory up to a limit, then in a temporary file. For builds that need
/// the keys themselves; for hashes there is entry_spool.
class key_text_spool {
 public:
  /// Calls `notice` with a sentence when the limit, in bytes, is reached.
  key_text_spool(std::function<void(const std::string& sentence)> notice, std::size_t limit)
      : notice_(std::move(notice)), limit_(limit) {}

  std::uint64_t keys() const noexcept { return keys_; }

  /// Fails with io if the temporary file cannot be created or written.
  result<void> add(std::span<const std::string_view> keys);

  /// Calls `use` with all keys in their order, many at a time, until it fails.
  result<void> for_each(
      const std::function<result<void>(std::span<const std::string_view>)>& use) const;

 private:
  /// Moves all chunks to the file.
  result<void> write();

  std::function<void(const std::string&)> notice_;
  std::size_t limit_;
  std::uint64_t keys_ = 0;
  std::vector<std::vector<char>> chunks_;  // each key's size and bytes
  std::vector<std::size_t> written_;       // the sizes of the chunks in the file
  std::optional<temporary_file> file_;
};

}  // namespace bloomset::cli
