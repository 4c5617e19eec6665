#pragma once

// From bytes to keys: lines, or strings that end in NUL.

#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "input.hpp"
#include "wiped.hpp"

namespace bloomset::cli {

struct key_format {
  char end = '\n';         ///< the end of each key; the last key may lack it
  bool strip_cr = false;   ///< drop a CR before the end
  bool drop_mark = false;  ///< drop the byte-order mark of UTF-8 at the beginning
};

/// The byte-order mark at the beginning of a text.
enum class byte_order_mark : std::uint8_t { none, utf8, utf16 };

/// Splits a source into keys. A key is a view into the block that was read; only the incomplete key
/// at the end of a block is copied. A key may have any length and any bytes except its end: the
/// block grows if one does not fit. An empty line is a key.
class key_reader {
 public:
  static constexpr std::size_t default_block = std::size_t{1} << 20;
  static constexpr std::size_t max_keys = 1024;  ///< per batch: its views fit the first-level cache

  explicit key_reader(std::unique_ptr<byte_source> source, key_format format = {},
                      std::size_t block = default_block);

  /// Continues with another source in the same memory.
  void restart(std::unique_ptr<byte_source> source) noexcept;

  /// The next keys, valid until the next call; empty only at the end. Fails as the source does,
  /// after all complete keys were returned.
  result<std::span<const std::string_view>> next();

  /// Unsplit keys with their ends, as many as fit into `memory`, which grows for a longer key;
  /// empty only at the end. Waits until the memory is full. Do not mix with next().
  result<std::span<const char>> next_block(std::vector<char>& memory);

  /// The line number of the next key, from 1. After a failure: the line of the failure.
  std::uint64_t next_line() const noexcept { return next_line_; }
  std::uint64_t consumed() const noexcept { return source_->consumed(); }

  /// The mark of the source. Known after the first key or the end.
  byte_order_mark mark() const noexcept { return mark_; }
  /// Whether every line so far ends in CR LF, except a last line without an end. Unknown if CRs are
  /// dropped.
  bool every_line_ends_in_cr() const noexcept { return crs_ == line_ends::all_cr; }

  /// Whether next() would have to wait for the source.
  bool would_wait() const noexcept;

 private:
  enum class line_ends : std::uint8_t { none, all_cr, others };

  std::size_t look_at_beginning(std::string_view bytes) noexcept;
  void look_at_end(std::string_view line) noexcept;
  bool may_look_at_ends() const noexcept {
    return crs_ != line_ends::others && !format_.strip_cr && format_.end == '\n';
  }
  void split() noexcept;
  result<void> refill();
  void keep(std::span<const char> rest);

  std::unique_ptr<byte_source> source_;
  key_format format_;
  // [begin_, end_) is not returned yet, and [begin_, searched_) has no end of a key. The block has
  // one more byte for the end of the last key. It is wiped, because lines may be passwords.
  wiped_bytes block_;
  std::size_t begin_ = 0;
  std::size_t searched_ = 0;
  std::size_t end_ = 0;
  bool ended_ = false;
  bool began_ = false;  // whether mark_ is known
  byte_order_mark mark_ = byte_order_mark::none;
  line_ends crs_ = line_ends::none;
  std::optional<failure> failure_;  // of next_block(), to be returned after the keys before it
  std::uint64_t next_line_ = 1;
  std::vector<std::string_view> keys_;
};

/// The line of a key, with the dropped CR if there was one, and without its end. The byte after a
/// key is its end or that CR, also after the last key.
inline std::string_view line_of(std::string_view key, key_format format) noexcept {
  const bool stripped = format.strip_cr && *(key.data() + key.size()) == '\r';
  return {key.data(), key.size() + (stripped ? 1 : 0)};
}

}  // namespace bloomset::cli
