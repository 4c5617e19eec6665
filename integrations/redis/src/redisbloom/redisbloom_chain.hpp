#pragma once

#include <bloomset/result.hpp>
#include <bloomset/storage.hpp>

#include "redisbloom/redisbloom_shape.hpp"
#include "values/filter_value.hpp"

namespace bloomset::server {

/// The common part of RedisBloom's two structures: a shape, and the bits of each of its links or
/// the slots of each of its sub-filters.
template <class Shape>
class redisbloom_chain : public filter_value {
 public:
  /// `parts` have the sizes that the sound shape says.
  redisbloom_chain(Shape shape, std::vector<owned_storage> parts) noexcept
      : shape_(std::move(shape)), parts_(std::move(parts)) {}
  /// Supplies the parts of an object that was made without them.
  void set_parts(std::vector<owned_storage> parts) noexcept { parts_ = std::move(parts); }

  const Shape& shape() const noexcept { return shape_; }

  std::uint64_t bytes() const noexcept override {
    std::uint64_t sum = sizeof *this + parts_.capacity() * sizeof(owned_storage);
    for (const owned_storage& part : parts_) sum += part.bytes().size();
    return sum;
  }
  std::vector<std::byte> dump_header() const override { return header_of(shape_); }
  byte_pieces dump_payload() const override {
    byte_pieces pieces;
    pieces.reserve(parts_.size());
    for (const owned_storage& part : parts_) pieces.push_back(part.bytes());
    return pieces;
  }

 protected:
  /// Appends a part of zeros. False without memory.
  bool add_part(std::uint64_t size) noexcept try {
    auto part = owned_storage::make(size);
    if (!part) return false;
    parts_.push_back(std::move(*part));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }

  Shape shape_;
  std::vector<owned_storage> parts_;
};

}  // namespace bloomset::server
