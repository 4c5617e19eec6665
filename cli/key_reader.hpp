#pragma once

// From bytes to keys: lines, or strings that end in NUL.

#include <bloomery/result.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "input.hpp"
#include "wiped.hpp"

namespace bloomery::cli {

struct key_format {
  char end = '\n';        ///< ends each key; the last one may lack it
  bool strip_cr = false;  ///< a CR just before the end is not of the key
  /// The mark of UTF-8 at the source's beginning is not of the first key.
  bool drop_mark = false;
};

/// A byte-order mark: what some programs write at a text's beginning.
enum class byte_order_mark : std::uint8_t { none, utf8, utf16 };

/// Splits a source into keys. Each is a view into the block as it was read: nothing is copied but
/// the incomplete key at a block's end, which moves to the front. A key may be of any length; the
/// block grows when one does not fit. An empty line is a key. Otherwise bytes are bytes.
class key_reader {
 public:
  static constexpr std::size_t default_block = std::size_t{1} << 20;
  static constexpr std::size_t max_keys = 1024;  ///< of a batch; its views stay in the first cache

  explicit key_reader(std::unique_ptr<byte_source> source, key_format format = {},
                      std::size_t block = default_block);

  /// Begins anew with another source, in the same memory.
  void restart(std::unique_ptr<byte_source> source) noexcept;

  /// The next keys, valid until the next call; none at the end only. A failure is the source's;
  /// the keys that were complete before it have been given.
  result<std::span<const std::string_view>> next();

  /// Whole keys with their ends as they stand, as many as fit into `memory` (which grows for a key
  /// that does not), after what is left from before; none at the end only. It waits until the
  /// memory is full. For readers that split elsewhere: not to be mixed with next().
  result<std::span<const char>> next_block(std::vector<char>& memory);

  /// The number of the line that the next key will be, from 1; after a failure, where it happened.
  std::uint64_t next_line() const noexcept { return next_line_; }
  std::uint64_t consumed() const noexcept { return source_->consumed(); }

  /// What the source begins with; known once a key was given or the end was seen.
  byte_order_mark mark() const noexcept { return mark_; }
  /// Whether every line so far ends in CR LF, but for a last one that lacks its end. Not known
  /// where CRs are stripped.
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
  // [begin_, end_) is not given yet, and [begin_, searched_) of it has no key's end.
  // One byte more than is ever read, for the last key's end. Wiped, because lines may be passwords.
  wiped_bytes block_;
  std::size_t begin_ = 0;
  std::size_t searched_ = 0;
  std::size_t end_ = 0;
  bool ended_ = false;
  bool began_ = false;  // whether mark_ is known
  byte_order_mark mark_ = byte_order_mark::none;
  line_ends crs_ = line_ends::none;
  std::optional<failure> failure_;  // of next_block, to be told when what came before it is given
  std::uint64_t next_line_ = 1;
  std::vector<std::string_view> keys_;
};

/// The whole line of a key that a reader gave: with the CR that was stripped from it, if one was,
/// and without its end. The byte after a key is its end or that CR, also after the last one.
inline std::string_view line_of(std::string_view key, key_format format) noexcept {
  const bool stripped = format.strip_cr && *(key.data() + key.size()) == '\r';
  return {key.data(), key.size() + (stripped ? 1 : 0)};
}

}  // namespace bloomery::cli
