#pragma once

// Lines, and the keys that a reader derives from them.

#include <algorithm>
#include <bloomset/keys/reader.hpp>
#include <bloomset/result.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bloomset::cli {

/// The reader for which each line is its own key.
inline constexpr std::string_view plain_reader = "lines";

/// The lines that have no key, whatever the reader is.
struct blank_lines {
  bool keep_empty = false;  ///< an empty line is a key, as dedup needs it
  bool comments = false;    ///< lines that begin with '#', after a byte-order mark or not

  bool operator()(std::string_view line) const noexcept {
    if (line.empty()) return !keep_empty;
    return comments && (line.front() == '#' || line.starts_with("\xef\xbb\xbf#"));
  }
};

/// The rule from lines to keys: the options --keys, --partition, --skip-bad and --skip-comments.
struct key_choice {
  std::string reader = {};     ///< empty: not chosen yet
  bool stored = false;         ///< whether a filter's label named the reader
  std::string partition = {};  ///< the reader of the partition; empty: keys have none
  keys::purpose why = keys::purpose::ask;
  bool skip_bad = false;  ///< skip wrong lines instead of failing
  blank_lines is_blank;
  /// An optional check of each key, for filters of typed keys. If it fails, the line is wrong.
  /// Called from any thread.
  std::function<result<void>(std::string_view key)> accepts = nullptr;

  /// Whether each line that is not blank is its own key.
  bool plain() const noexcept { return reader == plain_reader && partition.empty(); }
  /// Whether these lines are keys without any check, so that no reader is needed.
  bool unread() const noexcept { return plain() && !accepts; }
};

/// Consecutive lines of one file, and their keys.
struct key_batch {
  std::span<const std::string_view>
      lines;  ///< without their ends; empty only at the end of the input
  std::span<const std::string_view> keys;  ///< of all lines, in their order
  /// Per line, the number of keys up to and including it; empty if each line has one key.
  std::span<const std::uint32_t> ends;
  std::uint64_t first_line = 0;                 ///< the number of the first line in its file
  std::size_t file = 0;                         ///< the input that all lines are from
  std::span<const std::uint32_t> skipped = {};  ///< the indices of wrong lines, in their order

  /// The index of a line's first key, and the index after its last key.
  std::pair<std::size_t, std::size_t> keys_of(std::size_t line) const noexcept {
    if (ends.empty()) return {line, line + 1};
    return {line == 0 ? 0 : ends[line - 1], ends[line]};
  }
  /// The index of the line that a key is from.
  std::size_t line_of_key(std::size_t key) const noexcept;
};

/// The sizes of some keys.
struct key_sizes {
  std::size_t shortest = std::numeric_limits<std::size_t>::max();
  std::size_t longest = 0;

  void add(std::size_t size) noexcept { add({size, size}); }
  void add(const key_sizes& more) noexcept {
    shortest = std::min(shortest, more.shortest);
    longest = std::max(longest, more.longest);
  }
  bool are_equal() const noexcept { return shortest == longest; }  ///< and there is a key
};

/// Lines that are keys themselves, except blank ones.
class plain_keys {
 public:
  explicit plain_keys(blank_lines is_blank) noexcept : is_blank_(is_blank) {}

  /// The lines and their keys, valid until the next call.
  key_batch batch(std::span<const std::string_view> lines, std::uint64_t first_line);

 private:
  blank_lines is_blank_;
  std::vector<std::string_view> keys_;
  std::vector<std::uint32_t> ends_;
};

/// Whether a CR ends the line.
inline bool ends_in_cr(std::string_view line) noexcept {
  return line.ends_with('\r');
}

/// The result of reading some lines.
struct reading {
  struct wrong_line {
    std::uint64_t line;  ///< from 0, among the lines read
    failure why;
  };

  std::uint64_t lines = 0;  ///< including skipped lines
  std::uint64_t keys = 0;
  bool key_per_line = true;         ///< each line has one key
  key_sizes key_bytes = {};         ///< unless each line is its own key
  std::uint64_t crs = 0;            ///< lines that a CR ends
  std::uint64_t digests = 0;        ///< lines that are digests as the reader makes them of lines
  std::uint64_t exceptions = 0;     ///< lines that permit what others block
  std::uint64_t skipped = 0;        ///< wrong lines
  std::optional<wrong_line> wrong;  ///< the first skipped line, or the line that ended the reading
  bool stopped = false;             ///< at the wrong line, which `lines` does not count
};

/// A reader and the lines and keys that it has read. Each thread has its own.
class record_keys {
 public:
  static result<record_keys> make(const key_choice& choice);
  record_keys(record_keys&&) noexcept = default;
  record_keys& operator=(record_keys&&) = delete;
  record_keys(const record_keys&) = delete;
  record_keys& operator=(const record_keys&) = delete;
  ~record_keys() { keys_.wipe(); }

  /// A key of a line in readable form; `number` counts the keys of the line from 0.
  std::string shown(std::string_view line, std::size_t number, std::string_view key) const;

  /// The next lines are from that file.
  void begin_file(std::size_t number, std::string_view name);

  /// Appends a line and its keys, and adds to `so_far`. Returns false if a wrong line ended the
  /// reading.
  bool read(std::string_view line, reading& so_far);

  /// The lines and keys read since clear(). Lines are views, not copies.
  key_batch batch(std::uint64_t first_line = 0, std::size_t file = 0) const noexcept {
    return {lines_, keys_.all(), ends_, first_line, file, skipped_};
  }
  std::span<const std::string_view> keys() const noexcept { return keys_.all(); }
  void clear() noexcept;

 private:
  record_keys(std::unique_ptr<keys::reader> reader, std::unique_ptr<keys::reader> partition,
              const key_choice& choice)
      : reader_(std::move(reader)),
        partition_(std::move(partition)),
        skip_bad_(choice.skip_bad),
        is_blank_(choice.is_blank),
        digest_digits_(digits_of_digest(choice.reader)),
        accepts_(choice.accepts) {}

  static std::size_t digits_of_digest(std::string_view reader);

  result<void> read_keys(std::string_view line);
  result<void> read_partitioned(std::string_view line);

  std::unique_ptr<keys::reader> reader_;
  std::unique_ptr<keys::reader> partition_;  // null: keys have no partition
  bool skip_bad_;
  blank_lines is_blank_;
  std::size_t digest_digits_;  // of the digests that the reader makes of lines; 0 for other readers
  std::function<result<void>(std::string_view key)> accepts_;
  std::optional<std::size_t> file_;
  std::vector<std::string_view> lines_;
  std::vector<std::uint32_t> ends_;
  std::vector<std::uint32_t> skipped_;
  keys::key_list keys_;
  // Of the last line, if keys have a partition.
  keys::key_list partitions_;
  keys::key_list rests_;
};

}  // namespace bloomset::cli
