#include "parquet_values.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "options.hpp"
#include "thrift.hpp"

namespace bloomset::dialects {
namespace {

using bytes_view = std::span<const std::byte>;

/// `width` bits from `bit` on, the least significant first. Precondition: the bytes have them, and
/// width is at most 64.
std::uint64_t bits_at(bytes_view bytes, std::uint64_t bit, unsigned width) noexcept {
  if (width == 0) return 0;
  const std::size_t at = bit / 8;
  const auto shift = static_cast<unsigned>(bit % 8);
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
  word >>= shift;
  if (shift + width > 64) word |= std::to_integer<std::uint64_t>(bytes[at + 8]) << (64 - shift);
  return width == 64 ? word : word & ((std::uint64_t{1} << width) - 1);
}

/// Reads `count` numbers of `width` bits in Parquet's hybrid of run lengths and bit packing. Calls
/// use(number, repetitions). False if the bytes are malformed or `use` returns false.
template <class Use>
bool read_runs(bytes_view bytes, unsigned width, std::uint64_t count, Use&& use) {
  thrift::cursor from(bytes);
  while (count != 0) {
    const std::uint64_t head = from.varint();
    if (!from.good()) return false;
    if ((head & 1U) == 0) {
      const bytes_view stored = from.take((width + 7) / 8);
      if (!from.good()) return false;
      std::uint64_t number = 0;
      std::memcpy(&number, stored.data(), stored.size());
      const std::uint64_t run = std::min(head >> 1, count);
      if (run != 0 && !use(number, run)) return false;
      count -= run;
    } else if (width == 0) {
      return use(0, count);
    } else {
      // Eight numbers a group. Some writers leave out the unused end of the last one.
      const std::uint64_t left = bytes.size() - from.at();
      const std::uint64_t groups = std::min(head >> 1, left / width + 1);
      const bytes_view packed = from.take(std::min(groups * width, left));
      const std::uint64_t numbers = std::min({groups * 8, packed.size() * 8 / width, count});
      if (numbers == 0) return false;
      for (std::uint64_t i = 0; i < numbers; ++i) {
        if (!use(bits_at(packed, i * width, width), 1)) return false;
      }
      count -= numbers;
    }
  }
  return true;
}

/// Reads `count` integers that are stored as differences. The cursor is then behind them.
template <class Use>
bool read_deltas(thrift::cursor& from, std::uint64_t count, Use&& use) {
  // Writers have blocks of up to 2048. The bound keeps a few bytes from standing for many values.
  constexpr std::uint64_t max_block = 4096;
  const std::uint64_t block = from.varint();
  const std::uint64_t parts = from.varint();
  const std::uint64_t total = from.varint();
  auto value = static_cast<std::uint64_t>(from.number());
  if (!from.good() || total != count || block == 0 || block > max_block || parts == 0 ||
      parts > block || block % (parts * 8) != 0) {
    return false;
  }
  if (count == 0) return true;
  use(value);
  --count;
  while (count != 0) {
    const auto least = static_cast<std::uint64_t>(from.number());
    const bytes_view widths = from.take(parts);
    for (std::size_t part = 0; part < widths.size() && count != 0; ++part) {
      const auto width = std::to_integer<unsigned>(widths[part]);
      if (width > 64) return false;
      const bytes_view packed = from.take(block / parts * width / 8);
      if (!from.good()) return false;
      const std::uint64_t numbers = std::min(block / parts, count);
      for (std::uint64_t i = 0; i < numbers; ++i) {
        value += least + bits_at(packed, i * width, width);  // wraps, as the format says
        use(value);
      }
      count -= numbers;
    }
    if (!from.good()) return false;
  }
  return true;
}

bool read_lengths(thrift::cursor& from, std::uint64_t count, std::vector<std::uint32_t>& into) {
  bool in_range = true;
  const bool read = read_deltas(from, count, [&](std::uint64_t length) {
    in_range &= length <= 0x7fffffff;
    into.push_back(static_cast<std::uint32_t>(length));
  });
  return read && in_range;
}

bool read_plain(bytes_view bytes, std::uint32_t width, std::uint64_t count,
                const value_visitor& visit) {
  if (width != 0) {
    if (count > bytes.size() / width) return false;
    for (std::uint64_t i = 0; i < count; ++i) visit(bytes.subspan(i * width, width));
    return true;
  }
  for (; count != 0; --count) {
    if (bytes.size() < 4) return false;
    const auto length = little_endian<std::uint32_t>(bytes.data());
    bytes = bytes.subspan(4);
    if (length > bytes.size()) return false;
    visit(bytes.first(length));
    bytes = bytes.subspan(length);
  }
  return true;
}

/// Byte i of all values, then byte i + 1 of all values.
bool read_streams(bytes_view bytes, std::uint32_t width, std::uint64_t count,
                  const value_visitor& visit) {
  if (count > bytes.size() / width) return false;
  std::vector<std::byte> value(width);
  for (std::uint64_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < width; ++j) value[j] = bytes[j * count + i];
    visit(value);
  }
  return true;
}

/// Byte arrays: their lengths, then their bytes. With `prefixed` each begins with as many bytes of
/// the one before as a list of other lengths says.
bool read_byte_arrays(bytes_view bytes, bool prefixed, std::uint64_t count,
                      const value_visitor& visit) {
  // A page has some megabytes. A short one can stand for many and long values.
  constexpr std::uint64_t max_count = std::uint64_t{1} << 26;
  constexpr std::uint64_t max_bytes = std::uint64_t{1} << 31;
  if (count > max_count) return false;
  std::uint64_t all = 0;
  thrift::cursor from(bytes);
  std::vector<std::uint32_t> prefixes;
  std::vector<std::uint32_t> lengths;
  if (prefixed && !read_lengths(from, count, prefixes)) return false;
  if (!read_lengths(from, count, lengths)) return false;
  std::vector<std::byte> value;
  for (std::uint64_t i = 0; i < count; ++i) {
    const bytes_view end = from.take(lengths[i]);
    if (!from.good()) return false;
    if (!prefixed) {
      visit(end);
      continue;
    }
    if (prefixes[i] > value.size()) return false;
    all += prefixes[i] + end.size();
    if (all > max_bytes) return false;
    value.resize(prefixes[i]);
    value.insert(value.end(), end.begin(), end.end());
    visit(value);
  }
  return true;
}

}  // namespace

std::optional<std::uint64_t> count_levels(bytes_view bytes, unsigned max, std::uint64_t count) {
  std::uint64_t found = 0;
  const auto width = static_cast<unsigned>(std::bit_width(max));
  const bool read = read_runs(bytes, width, count, [&](std::uint64_t level, std::uint64_t times) {
    if (level == max) found += times;
    return level <= max;
  });
  return read ? std::optional(found) : std::nullopt;
}

bool mark_entries(bytes_view bytes, std::uint64_t count, std::vector<bool>& used) {
  if (count == 0) return true;
  if (bytes.empty()) return false;
  const auto width = std::to_integer<unsigned>(bytes.front());
  return width <= 32 &&
         read_runs(bytes.subspan(1), width, count, [&](std::uint64_t entry, std::uint64_t) {
           if (entry >= used.size()) return false;
           used[entry] = true;
           return true;
         });
}

bool can_read(page_encoding how, const value_type& type) noexcept {
  switch (how) {
    case page_encoding::plain:
      return true;
    case page_encoding::delta_numbers:
      return type.is_integer;
    case page_encoding::delta_lengths:
      return type.width == 0;
    case page_encoding::delta_prefixes:
      return !type.is_integer;
    case page_encoding::byte_streams:
      return type.width != 0;
    default:
      return false;
  }
}

bool read_values(bytes_view bytes, page_encoding how, const value_type& type, std::uint64_t count,
                 const value_visitor& visit) {
  if (count == 0) return true;
  switch (how) {
    case page_encoding::delta_numbers: {
      thrift::cursor from(bytes);
      return read_deltas(from, count, [&](std::uint64_t value) {
        visit(std::as_bytes(std::span(&value, 1)).first(type.width));
      });
    }
    case page_encoding::delta_lengths:
      return read_byte_arrays(bytes, false, count, visit);
    case page_encoding::delta_prefixes: {
      bool all_fit = true;
      return read_byte_arrays(bytes, true, count,
                              [&](bytes_view value) {
                                if (type.width == 0 || value.size() == type.width) {
                                  visit(value);
                                } else {
                                  all_fit = false;
                                }
                              }) &&
             all_fit;
    }
    case page_encoding::byte_streams:
      return read_streams(bytes, type.width, count, visit);
    default:
      return read_plain(bytes, type.width, count, visit);
  }
}

}  // namespace bloomset::dialects
