#pragma once

#include <string_view>

#include "api.hpp"

namespace bloomery::server {

/// Bytes of an RDB that the server allocated in reading them.
class loaded_bytes {
 public:
  explicit loaded_bytes(io* from) noexcept : bytes_(api.load_bytes(from, &size_)) {}
  loaded_bytes(const loaded_bytes&) = delete;
  loaded_bytes& operator=(const loaded_bytes&) = delete;
  ~loaded_bytes() {
    if (bytes_ != nullptr) api.free(bytes_);
  }
  /// Empty if they could not be read.
  std::string_view view() const noexcept {
    return bytes_ != nullptr ? std::string_view(bytes_, size_) : std::string_view();
  }

 private:
  std::size_t size_ = 0;
  char* bytes_;
};

}  // namespace bloomery::server
