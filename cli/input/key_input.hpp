#pragma once

// The keys of a verb's INPUT arguments, file after file.

#include <bloomset/result.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "input/input_options.hpp"
#include "input/key_positions.hpp"
#include "input/key_reader.hpp"
#include "input/record_keys.hpp"
#include "terminal/progress.hpp"

namespace bloomset::cli {

/// Whole lines of a file, unsplit, for a thread that splits them.
struct key_block {
  std::span<const char>
      bytes;                   ///< each line with its end; empty only at the end or after a failure
  std::size_t file = 0;        ///< the input that all lines are from
  std::uint64_t consumed = 0;  ///< bytes of all inputs read so far
  text_form form;              ///< of the file, so far
  std::optional<failure> broken;  ///< why the input ends here, without the position; see took()
};

/// All inputs of a verb, file after file. The last line of a file may lack its end.
class key_input {
 public:
  /// Checks the reader and every input first, so that a wrong name fails before any reading. A
  /// folder means its files that the reader recognises.
  static result<std::unique_ptr<key_input>> open(const input_options& options);

  /// The next lines and their keys, valid until the next call. A failure begins with "NAME:LINE: ".
  /// The lines before it are returned first.
  result<key_batch> next();

  /// The next block, read into `memory`, which must live as long as the block is used. Waits until
  /// the memory is full, or only for the first whole line unless `fills`.
  result<key_block> next_block(line_memory& memory, bool fills = true);
  /// Records what was read of a block. Call it for all blocks in their order; other threads may
  /// call next_block() meanwhile. Returns the failure of a wrong line or a broken block, with its
  /// position.
  result<void> took(const key_block& block, reading read);

  const key_choice& choice() const noexcept { return choice_; }
  key_format format() const noexcept { return format_; }
  /// Whether lines must not be shown.
  bool secret() const noexcept { return kind_->secret; }
  /// Whether the reader must see all lines of a file in their order.
  bool in_order() const noexcept { return in_order_; }
  /// Whether the last batch was typed at a prompt.
  bool prompted() const noexcept { return prompted_; }
  /// Bytes of all inputs, not decompressed. Empty if one is not a regular file.
  std::optional<std::uint64_t> total_bytes() const noexcept { return total_bytes_; }
  /// Whether all inputs are regular files, and none is stdin.
  bool can_be_read_again() const noexcept;
  /// Whether a file is packed, or cannot be looked at. Reads their first bytes.
  bool is_packed() const;
  std::size_t files() const noexcept { return names_.size(); }
  std::uint64_t lines() const noexcept { return positions_.lines(); }  ///< returned so far
  std::uint64_t keys() const noexcept { return positions_.keys(); }    ///< of those lines
  /// The sizes of those keys, unless each line is its own key.
  const key_sizes& key_bytes() const noexcept { return key_bytes_; }
  /// The name of that input as given, and for messages. Safe in any thread.
  std::string_view path(std::size_t file) const noexcept { return names_[file]; }
  std::string_view name(std::size_t file) const noexcept {
    return names_[file] == "-" ? std::string_view(stdin_name) : std::string_view(names_[file]);
  }
  /// The name of the last batch's file, for messages.
  std::string_view name() const noexcept {
    return opened_ == 0 ? std::string_view() : name(opened_ - 1);
  }
  /// The number, in its file, of the line after those that were returned or taken last.
  std::uint64_t next_line() const { return positions_.next_line(); }
  /// "NAME:LINE" of a line of a batch, counted from 0.
  std::string position_of_line(const key_batch& batch, std::size_t line) const;
  /// "NAME:LINE" of a key, counted from 0 over all inputs, or "NAME:FIRST-LAST" of the lines that
  /// it is among if lines have none or several keys.
  std::string position_of_key(std::uint64_t key) const;

  /// A sentence with the number of skipped lines and the first one; empty if there are none.
  std::string skipped() const;
  /// A sentence with the number of lines that permit what others block; empty if there are none.
  std::string exceptions() const;
  /// A sentence about the first file that is perhaps not what it was read as: with NUL bytes, with
  /// CRs or a byte-order mark that became part of keys, or with digests that were digested. Empty
  /// if there is none.
  std::string unread_form() const { return form_.empty() ? form_of(last_) : form_; }
  /// A sentence about a folder that lacks files; empty if there is none.
  const std::string& incomplete() const noexcept { return incomplete_; }

  /// A key of the last batch in readable form; `number` counts the keys of its line from 0.
  std::string shown(std::string_view line, std::size_t number, std::string_view key) const;

  /// Whether next() would wait for input. Flush the output first.
  bool would_wait() const noexcept { return reading_ && reader_->would_wait(); }

  /// Removes the progress line. To be called before a message on stderr.
  void quieten() noexcept { progress_.clear(); }

 private:
  key_input(const input_options& options, std::vector<std::string> names,
            std::optional<std::uint64_t> total_bytes);

  result<void> open_next();
  void end_file();
  /// Line ends, NUL bytes and digests of one file, which end_file() warns of.
  struct file_form {
    std::size_t file = 0;
    text_form text;
    std::uint64_t lines = 0;
    std::uint64_t crs = 0;
    std::uint64_t digests = 0;
  };

  std::string form_of(const file_form& of) const;
  void account(std::size_t file, const text_form& form, const reading& read);
  failure wrong(std::size_t file, std::uint64_t line, const failure& why) const;

  std::vector<std::string> names_;
  key_choice choice_;
  const keys::reader_kind* kind_ = nullptr;
  bool in_order_ = false;
  bool prompted_ = false;
  key_format format_;
  std::optional<std::uint64_t> total_bytes_;
  std::size_t opened_ = 0;
  std::optional<key_reader> reader_;
  bool reading_ = false;  // false: the last file has ended
  std::optional<record_keys> records_;
  plain_keys plain_;
  std::optional<failure> pending_;  // the failure to return after the lines before it
  key_positions positions_;
  key_sizes key_bytes_;
  std::uint64_t exceptions_ = 0;
  std::uint64_t skipped_ = 0;
  std::string first_skipped_;
  std::string incomplete_;
  file_form last_;    // of the file that lines were accounted of last
  std::string form_;  // of the files before it
  std::uint64_t memory_ = 0;
  std::uint64_t bytes_before_ = 0;
  progress progress_;
};

}  // namespace bloomset::cli
