#pragma once

// Lines, and the keys that a reader makes of them.

#include <bloomery/keys/reader.hpp>
#include <bloomery/result.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bloomery::cli {

/// How lines become keys: what --keys and its kin say.
struct key_choice {
  std::string reader = "lines";
  keys::purpose why = keys::purpose::ask;
  bool skip_bad = false;  ///< wrong lines are passed over, not an error
  /// If there is one, says of a key what is wrong with it, so that its line is a wrong one: filters
  /// of typed keys have it. Called from any thread.
  std::function<result<void>(std::string_view key)> accepts = nullptr;

  /// Whether each line is its own key.
  bool plain() const noexcept { return reader == "lines"; }
  /// Whether it is one whatever it says, so that no reader is needed.
  bool unread() const noexcept { return plain() && !accepts; }
};

/// Some lines that follow one another in one file, and their keys.
struct key_batch {
  std::span<const std::string_view> lines;  ///< without their ends; none at the end only
  std::span<const std::string_view> keys;   ///< of all lines, in their order
  /// For each line the number of keys of it and of the lines before; empty where each line has one.
  std::span<const std::uint32_t> ends;
  std::uint64_t first_line = 0;  ///< the number of the first line in its file

  /// The numbers of a line's first key and of the one after its last.
  std::pair<std::size_t, std::size_t> keys_of(std::size_t line) const noexcept {
    if (ends.empty()) return {line, line + 1};
    return {line == 0 ? 0 : ends[line - 1], ends[line]};
  }
  /// The line, counted as lines are, that the key of that number is from.
  std::size_t line_of_key(std::size_t key) const noexcept;
};

/// What came of reading some lines.
struct reading {
  struct wrong_line {
    std::uint64_t line;  ///< from 0, among those that were read
    failure why;
  };

  std::uint64_t lines = 0;  ///< that were read, also those that were passed over
  std::uint64_t keys = 0;
  bool key_per_line = true;         ///< whether each line had one key
  std::uint64_t skipped = 0;        ///< wrong lines that were passed over
  std::optional<wrong_line> wrong;  ///< the first of those, or the one that ended the reading
  bool stopped = false;             ///< by the wrong line; it is not among `lines`
};

/// A reader and what it has read. One for each thread.
class record_keys {
 public:
  static result<record_keys> make(const key_choice& choice);
  record_keys(record_keys&&) noexcept = default;
  record_keys& operator=(record_keys&&) = delete;
  record_keys(const record_keys&) = delete;
  record_keys& operator=(const record_keys&) = delete;
  ~record_keys() { keys_.wipe(); }

  const keys::reader& reader() const noexcept { return *reader_; }

  /// The lines that follow are of the file of that number and name.
  void begin_file(std::size_t number, std::string_view name);

  /// Appends a line and its keys, as `so_far` tells; false once a wrong line has ended the reading.
  bool read(std::string_view line, reading& so_far);

  /// What was read since clear(); `first_line` is passed on. Lines stay where they are.
  key_batch batch(std::uint64_t first_line) const noexcept {
    return {lines_, keys_.all(), ends_, first_line};
  }
  std::span<const std::string_view> keys() const noexcept { return keys_.all(); }
  void clear() noexcept;

 private:
  record_keys(std::unique_ptr<keys::reader> reader, const key_choice& choice)
      : reader_(std::move(reader)), skip_bad_(choice.skip_bad), accepts_(choice.accepts) {}

  result<void> read_keys(std::string_view line);

  std::unique_ptr<keys::reader> reader_;
  bool skip_bad_;
  std::function<result<void>(std::string_view key)> accepts_;
  std::optional<std::size_t> file_;
  std::vector<std::string_view> lines_;
  std::vector<std::uint32_t> ends_;
  keys::key_list keys_;
};

}  // namespace bloomery::cli
