#pragma once

// The keys of a verb's INPUT arguments, file after file.

#include <bloomery/result.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "input_options.hpp"
#include "key_positions.hpp"
#include "key_reader.hpp"
#include "progress.hpp"
#include "record_keys.hpp"

namespace bloomery::cli {

/// Whole lines as they stand in a file, for those who split them elsewhere.
struct key_block {
  std::span<const char> bytes;  ///< each line with its end; none at the end only, or where it broke
  std::size_t file = 0;         ///< number of the input that they are all from
  std::uint64_t consumed = 0;   ///< bytes of all inputs read so far
  std::optional<failure> broken;  ///< why nothing follows, but for the place; see took()
};

/// All inputs of a verb, file after file; each file's last line may lack its end.
class key_input {
 public:
  /// Looks at the reader and at every input first, so that a wrong name is an error before hours of
  /// reading. A folder stands for its files if the reader knows which are its own.
  static result<std::unique_ptr<key_input>> open(const input_options& options);

  /// The next lines and their keys, valid until the next call. A failure says where: "NAME:LINE:
  /// what"; the lines before it have been given.
  result<key_batch> next();

  /// The next block, read into `memory`, which the caller keeps while it uses the block. It may run
  /// in another thread than took(), which is told of each block in their order and of what was
  /// read of it, and gives a wrong line's or a broken block's failure with its place.
  result<key_block> next_block(std::vector<char>& memory);
  result<void> took(const key_block& block, reading read);

  const key_choice& choice() const noexcept { return choice_; }
  key_format format() const noexcept { return format_; }
  /// Whether no line may be shown.
  bool secret() const noexcept { return secret_; }
  /// Whether the last batch was asked for on a terminal.
  bool prompted() const noexcept { return prompted_; }
  /// Bytes of all inputs, as they stand; none if one is not a regular file.
  std::optional<std::uint64_t> total_bytes() const noexcept { return total_bytes_; }
  std::size_t files() const noexcept { return names_.size(); }
  std::uint64_t lines() const noexcept { return positions_.lines(); }  ///< returned so far
  std::uint64_t keys() const noexcept { return positions_.keys(); }    ///< of those lines
  /// The name of that input, as it was given, and for messages. From any thread.
  std::string_view path(std::size_t file) const noexcept { return names_[file]; }
  std::string_view name(std::size_t file) const noexcept {
    return names_[file] == "-" ? std::string_view(stdin_name) : std::string_view(names_[file]);
  }
  /// The name, for messages, of the file that the last batch is from.
  std::string_view name() const noexcept {
    return opened_ == 0 ? std::string_view() : name(opened_ - 1);
  }
  /// "NAME:LINE" of a line of the last batch, by its number in the file.
  std::string position_of_line(std::uint64_t line) const;
  /// "NAME:LINE" of the key of that number, from 0, among all that were given; where lines have
  /// none or several, "NAME:FIRST-LAST" of the lines that it is among.
  std::string position_of_key(std::uint64_t key) const;

  /// How many wrong lines were passed over, and the first, in a sentence; empty if none was.
  std::string skipped() const;
  /// What of a file's form has become part of keys: its lines' CRs, its byte-order mark. A sentence
  /// about the first such file, with what drops it; empty if there is none.
  std::string unread_form() const { return form_.empty() && reading_ ? form() : form_; }
  /// That a folder lacks files, in a sentence; empty if none does.
  const std::string& incomplete() const noexcept { return incomplete_; }

  /// The key of the last batch as it is to be shown: `number` counts the keys of its line.
  std::string shown(std::string_view line, std::size_t number, std::string_view key) const;

  /// Whether next() would have to wait; then what is to be printed should be.
  bool would_wait() const noexcept { return reading_ && reader_->would_wait(); }

  /// Takes the progress line away before something is said on stderr.
  void quieten() noexcept { progress_.clear(); }

 private:
  key_input(const input_options& options, std::vector<std::string> names,
            std::optional<std::uint64_t> total_bytes);

  result<void> open_next();
  void end_file();
  std::string form() const;
  void account(std::size_t file, const reading& read);
  tl::unexpected<failure> wrong(std::size_t file, std::uint64_t line, const failure& why) const;

  std::vector<std::string> names_;
  key_choice choice_;
  bool secret_ = false;
  const keys::reader_kind* kind_ = nullptr;
  bool prompted_ = false;
  key_format format_;
  std::optional<std::uint64_t> total_bytes_;
  std::size_t opened_ = 0;
  std::optional<key_reader> reader_;
  bool reading_ = false;  // the file that was opened last; else its end has been seen
  std::optional<record_keys> records_;
  std::optional<failure> pending_;  // what ends the input once the lines before it are given
  key_positions positions_;
  std::uint64_t skipped_ = 0;
  std::string first_skipped_;
  std::string incomplete_;
  std::string form_;
  std::uint64_t bytes_before_ = 0;
  progress progress_;
};

}  // namespace bloomery::cli
