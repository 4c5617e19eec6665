#pragma once

// From bytes to keys: lines, or strings that end in NUL.

#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "input/input.hpp"
#include "memory/line_memory.hpp"

namespace bloomset::cli {

struct key_format {
  char end = '\n';         ///< the end of each key; the last key may lack it
  bool strip_cr = false;   ///< drop a CR before the end
  bool drop_mark = false;  ///< drop the byte-order mark of UTF-8 at the beginning
};

/// The byte-order mark at the beginning of a text.
enum class byte_order_mark : std::uint8_t { none, utf8, utf16 };

/// What a source shows of the form of its text, so far.
struct text_form {
  byte_order_mark mark = byte_order_mark::none;
  bool has_nul = false;    ///< a NUL byte among the bytes that were read first
  bool lacks_end = false;  ///< the last line has no end
  bool cr_at_end = false;  ///< and its last byte is a CR
};

/// Splits a source into lines. A line is a view into the block that was read; only the incomplete
/// line at the end of a block is copied. A line may have any bytes except its end: the block grows
/// if one does not fit, up to the greatest length.
class key_reader {
 public:
  static constexpr std::size_t default_block = std::size_t{1} << 20;
  static constexpr std::size_t max_keys = 1024;  ///< per batch: its views fit the first-level cache

  explicit key_reader(std::unique_ptr<byte_source> source, key_format format = {},
                      std::size_t block = default_block,
                      std::uint64_t max_line = std::numeric_limits<std::uint64_t>::max());

  /// Continues with another source in the same memory.
  void restart(std::unique_ptr<byte_source> source) noexcept;

  /// The next keys, valid until the next call; empty only at the end. Fails as the source does, or
  /// for a line that is too long, after all complete keys were returned.
  result<std::span<const std::string_view>> next();

  /// Unsplit keys with their ends, as many as fit into `memory`, which grows for a longer key;
  /// empty only at the end. Waits until the memory is full, or only for the first whole key unless
  /// `fills`. Do not mix with next().
  result<std::span<const char>> next_block(line_memory& memory, bool fills = true);

  /// The line number of the next key, from 1. After a failure: the line of the failure.
  std::uint64_t next_line() const noexcept { return next_line_; }
  std::uint64_t consumed() const noexcept { return source_->consumed(); }

  /// Mark and NULs are known after the first key or the end, the last line's end at the end.
  const text_form& form() const noexcept { return form_; }

  /// Whether next() would have to wait for the source.
  bool would_wait() const noexcept;

 private:
  std::size_t look_at_beginning(std::string_view bytes) noexcept;
  void look_at_last(std::string_view line) noexcept;
  failure too_long() const;
  void split() noexcept;
  result<void> refill();
  void keep(std::span<const char> rest);

  std::unique_ptr<byte_source> source_;
  key_format format_;
  // [begin_, end_) is not returned yet, and [begin_, searched_) has no end of a key. The block has
  // one more byte for the end of the last key.
  line_memory block_;
  std::uint64_t max_line_;
  std::size_t begin_ = 0;
  std::size_t searched_ = 0;
  std::size_t end_ = 0;
  bool ended_ = false;
  bool began_ = false;  // whether the mark is known
  text_form form_;
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
