#pragma once

// stdout, buffered: one system call for many lines.

#include <bloomery/result.hpp>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

namespace bloomery::cli {

/// Collects what is to be printed and writes it in pieces of 64 KiB or more. Nothing is lost: call
/// flush() when all is said; if an error ends the verb earlier, what was collected is written when
/// this is destroyed. A reader that went away (`| head -1`) ends the process as SIGPIPE does.
class output {
 public:
  explicit output(int descriptor = 1);
  output(const output&) = delete;
  output& operator=(const output&) = delete;
  ~output();

  void append(std::string_view bytes) noexcept {
    if (bytes.size() > capacity - used_) {
      append_large(bytes);
      return;
    }
    std::memcpy(buffer_.data() + used_, bytes.data(), bytes.size());
    used_ += bytes.size();
  }
  void append(char byte) noexcept { append(std::string_view(&byte, 1)); }

  /// Writes what is collected. Once a write has failed nothing more is written, and this says so.
  result<void> flush();
  /// Whether a write has failed; to be asked now and then, so that a full disk ends the work.
  result<void> check() const;

 private:
  static constexpr std::size_t capacity = std::size_t{128} << 10;

  void append_large(std::string_view bytes) noexcept;
  void write_all(std::string_view bytes) noexcept;

  int descriptor_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;
  int error_ = 0;
};

}  // namespace bloomery::cli
