#pragma once

#include <string_view>

#include "server/api.hpp"

namespace bloomset::server {

/// A string of an RDB file, which the server allocates.
class loaded_bytes {
 public:
  explicit loaded_bytes(io* input) noexcept : bytes_(api.load_bytes(input, &size_)) {}
  loaded_bytes(const loaded_bytes&) = delete;
  loaded_bytes& operator=(const loaded_bytes&) = delete;
  ~loaded_bytes() {
    if (bytes_ != nullptr) api.free(bytes_);
  }
  /// Empty after a failed read.
  std::string_view view() const noexcept {
    return bytes_ != nullptr ? std::string_view(bytes_, size_) : std::string_view();
  }

 private:
  std::size_t size_ = 0;
  char* bytes_;
};

}  // namespace bloomset::server
