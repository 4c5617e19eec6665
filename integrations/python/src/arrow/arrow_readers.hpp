#pragma once

// The key in a row of an Arrow array, a reader for each of Arrow's layouts. A reader checks offsets
// and views when it is made. A view that it returns refers to the array or to the caller's scratch.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "arrow_c.hpp"
#include "errors.hpp"
#include "keys.hpp"
#include "signals.hpp"

namespace bloomset::python::arrow {

/// The rows from `offset` on of one array, which `owner` keeps.
struct part {
  held_array owner;
  const ArrowArray* array;
  std::size_t offset;
  std::size_t rows;

  part(held_array owner_, const ArrowArray& array_)
      : owner(std::move(owner_)),
        array(&array_),
        offset(static_cast<std::size_t>(array_.offset)),
        rows(static_cast<std::size_t>(array_.length)) {
    if (array_.offset < 0 || array_.length < 0 || array_.offset > INT64_MAX - array_.length)
      raise(PyExc_ValueError, "the Arrow array's length or offset is out of range");
  }

  const void* buffer(std::int64_t i) const {
    if (i >= array->n_buffers || array->buffers == nullptr || array->buffers[i] == nullptr)
      raise(PyExc_ValueError, "the Arrow array lacks a buffer that its type has");
    return array->buffers[i];
  }

  /// The values in buffer 1 from the first row on, of `size` bytes each. Null without rows.
  const char* values(std::size_t size) const {
    return rows == 0 ? nullptr : static_cast<const char*>(buffer(1)) + offset * size;
  }
  template <class T>
  const T* values() const {
    return reinterpret_cast<const T*>(values(sizeof(T)));
  }

  bool is_null(std::size_t row) const noexcept {
    if (array->null_count == 0) return false;
    const auto* const valid = array->n_buffers > 0 && array->buffers != nullptr
                                  ? static_cast<const std::uint8_t*>(array->buffers[0])
                                  : nullptr;
    const std::size_t at = offset + row;
    return valid != nullptr && ((valid[at / 8] >> (at % 8)) & 1U) == 0;
  }
};

template <class T>
T load(const T* from) noexcept {
  T value{};
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Integers, divided by `Unit` and rounded down.
template <class T, std::int64_t Unit = 1>
struct integer_reader {
  using scratch = key_word;
  const T* values;

  explicit integer_reader(const part& from) : values(from.values<T>()) {}

  std::string_view operator()(std::size_t row, scratch& word) const noexcept {
    // NOLINTNEXTLINE(bugprone-signed-char-misuse,cert-str34-c): the sign is meant to be extended
    auto wide = static_cast<std::uint64_t>(load(values + row));
    if constexpr (Unit != 1) {
      const auto value = static_cast<std::int64_t>(wide);
      wide = static_cast<std::uint64_t>(value / Unit - std::int64_t{value % Unit < 0});
    }
    word = std::bit_cast<key_word>(wide);
    return {word.data(), word.size()};
  }
};

struct no_scratch {};

/// Text and bytes, one after the other, with offsets.
template <class Offset>
struct bytes_reader {
  using scratch = no_scratch;
  const Offset* offsets;
  const char* data;

  explicit bytes_reader(const part& from) : offsets(from.values<Offset>()), data() {
    Offset last = 0;
    signal_breaks breaks;
    for (std::size_t row = 0; from.rows != 0 && row <= from.rows; ++row) {
      breaks();
      if (offsets[row] < last)
        raise(PyExc_ValueError,
              fmt::format("the Arrow array's offset {} is less than the one before it", row));
      last = offsets[row];
    }
    if (last != 0) data = static_cast<const char*>(from.buffer(2));
  }

  std::string_view operator()(std::size_t row, scratch&) const noexcept {
    return {data + offsets[row], static_cast<std::size_t>(offsets[row + 1] - offsets[row])};
  }
};

/// Text and bytes as views: at most 12 bytes in the view itself, more in one of several buffers.
struct view_reader {
  using scratch = no_scratch;
  struct view {
    std::int32_t size;
    char prefix[4];
    std::int32_t buffer;
    std::int32_t offset;
  };
  static_assert(sizeof(view) == 16);
  const view* views;
  const void** buffers;

  explicit view_reader(const part& from)
      : views(from.values<view>()), buffers(from.array->buffers + 2) {
    // The last buffer has the sizes of those between.
    const std::int64_t between = from.array->n_buffers - 3;
    const auto* const sizes =
        between > 0 ? static_cast<const std::int64_t*>(from.buffer(between + 2)) : nullptr;
    signal_breaks breaks;
    for (std::size_t row = 0; row < from.rows; ++row) {
      breaks();
      if (from.is_null(row)) continue;
      const view v = load(views + row);
      const bool is_good =
          v.size >= 0 && (v.size <= 12 || (v.buffer >= 0 && v.buffer < between && v.offset >= 0 &&
                                           std::int64_t{v.offset} + v.size <= sizes[v.buffer]));
      if (!is_good)
        raise(PyExc_ValueError,
              fmt::format("the Arrow array's view {} is not within its buffer", row));
    }
  }

  std::string_view operator()(std::size_t row, scratch&) const noexcept {
    const view v = load(views + row);
    const auto size = static_cast<std::size_t>(v.size);
    if (size <= 12) return {reinterpret_cast<const char*>(views + row) + 4, size};
    return {static_cast<const char*>(buffers[v.buffer]) + v.offset, size};
  }
};

/// The number in a format such as "w:16".
inline std::int64_t number_in(std::string_view text, std::string_view format) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || (end != text.data() + text.size() && *end != ','))
    raise(PyExc_ValueError, fmt::format("'{}' is not a format of Arrow", format));
  return number;
}

/// Bytes of one width.
struct fixed_reader {
  using scratch = no_scratch;
  std::size_t width;
  const char* data;

  fixed_reader(const part& from, std::string_view format) : width(), data() {
    const std::int64_t given = number_in(format.substr(2), format);
    if (given < 0) raise(PyExc_ValueError, fmt::format("'{}' is not a format of Arrow", format));
    width = static_cast<std::size_t>(given);
    if (width != 0) data = from.values(width);
  }

  std::string_view operator()(std::size_t row, scratch&) const noexcept {
    return {data + row * width, width};
  }
};

/// Decimals as text, with all digits of their scale.
struct decimal_reader {
  // Of 256 bits: 78 digits, a sign, a point, and as many zeros as the scale may ask for.
  using scratch = std::array<char, 192>;
  std::size_t width = 16;
  std::int64_t scale = 0;
  const char* data;

  /// The format is "d:precision,scale" or "d:precision,scale,bits".
  decimal_reader(const part& from, std::string_view format) : data() {
    const std::size_t first = std::min(format.find(','), format.size() - 1);
    scale = number_in(format.substr(first + 1), format);
    const std::size_t second = format.find(',', first + 1);
    if (second != std::string_view::npos) {
      const std::int64_t bits = number_in(format.substr(second + 1), format);
      width = static_cast<std::size_t>(bits) / 8;
      if (bits != 32 && bits != 64 && bits != 128 && bits != 256) scale = 1000;
    }
    if (scale < -76 || scale > 76)
      raise(PyExc_TypeError,
            fmt::format("decimals of the format '{}' are not keys; cast them to text", format));
    data = from.values(width);
  }

  std::string_view operator()(std::size_t row, scratch& text) const noexcept {
    // The magnitude, lowest limb first.
    std::array<std::uint32_t, 8> limbs{};
    const std::size_t count = width / 4;
    std::memcpy(limbs.data(), data + row * width, width);
    const bool negative = (limbs[count - 1] >> 31U) != 0;
    std::uint64_t carry = 1;
    for (std::size_t i = 0; negative && i < count; ++i) {
      carry += static_cast<std::uint32_t>(~limbs[i]);
      limbs[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32U;
    }
    char* const end = text.data() + text.size();
    char* at = end;
    bool is_zero = std::all_of(limbs.begin(), limbs.end(), [](auto limb) { return limb == 0; });
    for (std::int64_t i = scale; i < 0 && !is_zero; ++i) *--at = '0';
    std::int64_t digits = 0;
    do {
      std::uint64_t rest = 0;
      for (std::size_t i = count; i > 0; --i) {
        const std::uint64_t value = (rest << 32U) | limbs[i - 1];
        limbs[i - 1] = static_cast<std::uint32_t>(value / 10);
        rest = value % 10;
      }
      *--at = static_cast<char>('0' + rest);
      if (++digits == scale) *--at = '.';
      is_zero = std::all_of(limbs.begin(), limbs.end(), [](auto limb) { return limb == 0; });
    } while (!is_zero || digits <= scale);
    if (negative) *--at = '-';
    return {at, static_cast<std::size_t>(end - at)};
  }
};

}  // namespace bloomset::python::arrow
