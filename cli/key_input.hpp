#pragma once

// The keys that a verb reads: its INPUT arguments one after the other, and the options that say how
// they are read, alike on every verb.

#include <CLI/CLI.hpp>
#include <bloomery/result.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "key_reader.hpp"
#include "progress.hpp"

namespace bloomery::cli {

struct input_options {
  std::vector<std::string> names;  ///< none is stdin
  bool nul = false;
  bool crlf = false;
  bool no_progress = false;

  /// Declares INPUT..., -0, --crlf and --no-progress.
  void declare(CLI::App& app);

  key_format format() const noexcept { return {.end = nul ? '\0' : '\n', .strip_cr = crlf}; }
};

struct key_batch {
  std::span<const std::string_view> keys;  ///< none at the end only
  std::uint64_t first_line = 0;            ///< of the file that they are all from
};

/// Whole keys as they stand in a file, for those who split them elsewhere.
struct key_block {
  std::span<const char> bytes;  ///< each key with its end; none at the end only, or where it broke
  std::size_t file = 0;         ///< number of the input that they are all from
  std::uint64_t consumed = 0;   ///< bytes of all inputs read so far
  std::optional<failure> broken;  ///< why nothing follows, but for the place; see took()
};

/// All inputs of a verb, file after file; each file's last key may lack its end.
class key_input {
 public:
  /// Looks at every input first, so that a wrong name is an error before hours of reading.
  static result<std::unique_ptr<key_input>> open(const input_options& options);

  /// The next keys, valid until the next call. A failure says where: "NAME:LINE: what".
  result<key_batch> next();

  /// The next block, read into `memory`, which the caller keeps while it uses the block. It may run
  /// in another thread than took(), which is told of each block in their order and of the number of
  /// keys that were in it, and gives a broken block's failure with its place.
  result<key_block> next_block(std::vector<char>& memory);
  result<void> took(const key_block& block, std::uint64_t keys);

  key_format format() const noexcept { return format_; }
  /// Bytes of all inputs, as they stand; none if one is not a regular file.
  std::optional<std::uint64_t> total_bytes() const noexcept { return total_bytes_; }
  std::uint64_t keys() const noexcept { return keys_; }  ///< given so far
  /// The name, for messages, of the file that the last batch is from.
  std::string_view name() const noexcept {
    return parts_.empty() ? std::string_view() : std::string_view(parts_.back().name);
  }
  /// "NAME:LINE" of the key of that number, from 0, among all that were given.
  std::string place_of(std::uint64_t key) const;

  /// Whether next() would have to wait; then what is to be printed should be.
  bool would_wait() const noexcept { return reader_ && reader_->would_wait(); }

  /// Takes the progress line away before something is said on stderr.
  void quieten() noexcept { progress_.clear(); }

 private:
  struct part {
    std::string name;
    std::uint64_t first_key;
  };

  result<void> open_next();
  std::string_view display_name(std::size_t file) const noexcept;

  key_input(const input_options& options, std::optional<std::uint64_t> total_bytes);

  std::vector<std::string> names_;
  key_format format_;
  std::optional<std::uint64_t> total_bytes_;
  std::size_t opened_ = 0;
  std::vector<part> parts_;
  std::optional<key_reader> reader_;
  std::uint64_t keys_ = 0;
  std::uint64_t bytes_before_ = 0;
  progress progress_;
};

}  // namespace bloomery::cli
