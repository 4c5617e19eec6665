#pragma once

// Memory for lines, which grows without a second copy.

#include <cstddef>
#include <utility>

#include "terminal/system.hpp"

namespace bloomset::cli {

/// Pages from the system. Growing moves pages instead of copying them where the system can, and
/// pages that were never written use no memory. So a line of 1 GiB needs 1 GiB. Freed pages are not
/// seen by anyone again, which suits passwords.
class line_memory {
 public:
  /// Throws std::bad_alloc.
  explicit line_memory(std::size_t size)
      : data_(allocate_pages(size)), size_(size), normal_size_(size) {}
  line_memory(line_memory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        normal_size_(other.normal_size_) {}
  line_memory& operator=(line_memory&&) = delete;
  line_memory(const line_memory&) = delete;
  line_memory& operator=(const line_memory&) = delete;
  ~line_memory() {
    if (data_ != nullptr) free_pages(data_, size_);
  }

  char* data() noexcept { return data_; }
  const char* data() const noexcept { return data_; }
  char& operator[](std::size_t i) noexcept { return data_[i]; }
  std::size_t size() const noexcept { return size_; }
  bool has_grown() const noexcept { return size_ > normal_size_; }

  /// At least that size; the content stays. Throws std::bad_alloc.
  void grow(std::size_t size) {
    if (size <= size_) return;
    data_ = grow_pages(data_, size_, size);
    size_ = size;
  }
  /// The size at first, without the content, if it has grown.
  void reset() {
    if (!has_grown()) return;
    free_pages(std::exchange(data_, nullptr), size_);
    data_ = allocate_pages(normal_size_);
    size_ = normal_size_;
  }

 private:
  char* data_;
  std::size_t size_;
  std::size_t normal_size_;
};

}  // namespace bloomset::cli
