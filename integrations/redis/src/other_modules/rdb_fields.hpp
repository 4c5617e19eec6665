#pragma once

// Fields of other modules' types in RDB files, one after the other.

#include <bloomset/storage.hpp>
#include <concepts>
#include <span>

#include "values/dump_pieces.hpp"
#include "values/loaded_bytes.hpp"

namespace bloomset::server {

/// Reads fields. After a missing field, or a number that does not fit its type, `is_broken` is set
/// and nothing more is read.
struct rdb_reader {
  template <class Number>
  rdb_reader& operator>>(Number& number) noexcept {
    const std::uint64_t value = is_broken ? 0 : api.load_unsigned(input);
    number = static_cast<Number>(value);
    is_broken = is_broken || number != value || api.has_io_error(input) != 0;
    return *this;
  }
  rdb_reader& operator>>(double& number) noexcept {
    number = is_broken ? 0 : api.load_real(input);
    is_broken = is_broken || api.has_io_error(input) != 0;
    return *this;
  }
  /// A string that is not empty, as memory of a filter.
  rdb_reader& operator>>(owned_storage& storage) {
    if (is_broken) return *this;
    const loaded_bytes bytes(input);
    is_broken = bytes.view().empty() || api.has_io_error(input) != 0;
    if (is_broken) return *this;
    auto copied = owned_storage::copy_of(std::as_bytes(std::span(bytes.view())));
    is_broken = !copied;
    if (copied) storage = std::move(*copied);
    return *this;
  }

  io* input;
  bool is_broken = false;
};

struct rdb_writer {
  template <std::unsigned_integral Number>
  rdb_writer& operator<<(Number number) noexcept {
    api.save_unsigned(output, number);
    return *this;
  }
  rdb_writer& operator<<(double number) noexcept {
    api.save_real(output, number);
    return *this;
  }
  rdb_writer& operator<<(std::span<const std::byte> bytes) noexcept {
    api.save_bytes(output, as_chars(bytes).data(), bytes.size());
    return *this;
  }

  io* output;
};

}  // namespace bloomset::server
