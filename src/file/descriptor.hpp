#pragma once

// A file descriptor that closes itself, and the error sentence for a failed system call.

#include <unistd.h>

#include <bloomset/result.hpp>
#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/format.hpp"

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomset::detail {

class descriptor {
 public:
  descriptor() noexcept = default;
  explicit descriptor(int number) noexcept : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  explicit operator bool() const noexcept { return number_ >= 0; }
  int get() const noexcept { return number_; }

 private:
  int number_ = -1;
};

/// "NAME: cannot WHAT: No space left on device", by the present errno.
inline failure system_failure(const std::string& name, std::string_view what) {
  const int error = errno;
  return fail(failure{
      error == ENOENT ? errc::not_found : errc::io,
      format_text("{}: cannot {}: {}", name, what, std::generic_category().message(error)), error});
}

}  // namespace bloomset::detail

#pragma GCC visibility pop
