#pragma once

// stdout, buffered: one system call for many lines.

#include <bloomset/result.hpp>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

namespace bloomset::cli {

/// Buffers output and writes it in pieces of at least 64 KiB. Call flush() at the end; after an
/// error the destructor writes the rest. If the reader is gone (`| head -1`), the process ends as
/// by SIGPIPE.
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

  /// Writes the buffer. Fails, and writes nothing more, once a write has failed.
  result<void> flush();
  /// Fails if a write has failed. Call it per batch, so that a full disk ends the work.
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

}  // namespace bloomset::cli
