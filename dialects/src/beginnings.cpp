#include "beginnings.hpp"

#include <algorithm>
#include <array>

#include "gzip.hpp"
#include "options.hpp"
#include "rows.hpp"

namespace bloomset::dialects {
namespace {
namespace first_bytes {

using bytes_view = std::span<const std::byte>;

bool has(bytes_view bytes, std::size_t at, std::initializer_list<unsigned> these) noexcept {
  return bytes.size() >= at + these.size() &&
         std::equal(these.begin(), these.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                    [](unsigned a, std::byte b) { return static_cast<std::byte>(a) == b; });
}

/// The current version and the oldest that reads it. Other versions also need a plausible number of
/// functions.
bool squid(bytes_view bytes) noexcept {
  if (bytes.size() < 4) return false;
  const auto current = big_endian<std::int16_t>(bytes.data());
  const auto required = big_endian<std::int16_t>(bytes.data() + 2);
  if (current == 5 && required == 3) return true;
  return current > 0 && current < 16 && required > 0 && required < 16 && bytes.size() >= 22 &&
         bytes[21] == std::byte{4};
}

/// The magic numbers of a file, or the length and the forms that every writer gives a bare filter.
bool parquet(bytes_view bytes) noexcept {
  for (const std::size_t at :
       {std::size_t{0}, bytes.size() - std::min<std::size_t>(4, bytes.size())}) {
    if (has(bytes, at, {'P', 'A', 'R', '1'}) || has(bytes, at, {'P', 'A', 'R', 'E'})) return true;
  }
  constexpr std::size_t max_varint = 5;
  std::size_t at = 1;
  while (at < bytes.size() && at <= max_varint && (bytes[at] & std::byte{0x80}) != std::byte{0}) {
    ++at;
  }
  const bool structures = has(bytes, at + 1, {0x1c}) && has(bytes, at + 3, {0, 0, 0x1c});
  const bool numbers = has(bytes, at + 1, {0x15, 0, 0x15, 0, 0x15, 0});
  return has(bytes, 0, {0x15}) && (structures || numbers);
}

/// Version 2, a mode, and six bytes of zeros.
bool poppy(bytes_view bytes) noexcept {
  return has(bytes, 0, {2}) && bytes.size() >= 8 && bytes[1] <= std::byte{3} &&
         has(bytes, 2, {0, 0, 0, 0, 0, 0});
}

/// The flags of version 1. With other flags or versions the next fields must be plausible too.
bool dcso(bytes_view bytes) noexcept {
  std::array<std::byte, 48> first{};
  if (is_gzip(bytes)) {
    const auto came = gunzip_front(bytes, first);
    const auto front = bytes_view(first).first(came);
    return came >= 8 && !poppy(front) && dcso(front);
  }
  if (bytes.size() < 8) return false;
  const auto flags = little_endian<std::uint64_t>(bytes.data());
  if (flags == 1) return true;
  if (bytes.size() < first.size()) return false;
  const auto fpr = little_endian<double>(bytes.data() + 16);
  const auto hashes = little_endian<std::uint64_t>(bytes.data() + 24);
  return flags < 0x10000 && fpr > 0 && fpr < 1 && hashes > 0 && hashes <= 255;
}

/// A number of words that a filter of less than 2 GiB can have.
bool some_words(bytes_view bytes, std::size_t at) noexcept {
  const auto words = big_endian<std::uint32_t>(bytes.data() + at);
  return words != 0 && words < std::uint32_t{1} << 28;
}

/// A version, a plausible number of functions, and a number of words; version 2 has a seed before
/// it.
bool spark(bytes_view bytes) noexcept {
  constexpr std::uint32_t max_hashes = 64;
  if (bytes.size() < 12) return false;
  const auto version = big_endian<std::uint32_t>(bytes.data());
  const auto hashes = big_endian<std::uint32_t>(bytes.data() + 4);
  const bool has_words = version == 1 ? some_words(bytes, 8)
                                      : version == 2 && bytes.size() >= 16 && some_words(bytes, 12);
  return has_words && hashes != 0 && hashes <= max_hashes;
}

/// A number of functions that Cassandra's tables of rates have, then a number of words.
bool cassandra(bytes_view bytes) noexcept {
  constexpr std::uint32_t max_hashes = 20;
  if (bytes.size() < 8) return false;
  const auto hashes = big_endian<std::uint32_t>(bytes.data());
  return hashes != 0 && hashes <= max_hashes && some_words(bytes, 4);
}

bool guava(bytes_view bytes) noexcept {
  constexpr std::byte max_hashes{64};
  return bytes.size() >= 6 && bytes[0] <= std::byte{1} && bytes[1] != std::byte{0} &&
         bytes[1] <= max_hashes && some_words(bytes, 2);
}

/// A length in one byte, and exactly as many bytes after it; or a length in three bytes, and at
/// most as many bytes after it.
bool bip37(bytes_view bytes) noexcept {
  constexpr std::size_t trailer = 9;
  constexpr std::size_t max_size = 36'000;
  constexpr std::size_t in_three = 0xfd;
  if (bytes.size() < 3) return false;
  const auto small = std::to_integer<std::size_t>(bytes[0]);
  if (small > in_three) return false;
  if (small < in_three) return small != 0 && bytes.size() - 1 == small + trailer;
  const auto size = std::size_t{little_endian<std::uint16_t>(bytes.data() + 1)};
  return size >= in_three && size <= max_size && bytes.size() - 3 <= size + trailer;
}

/// A version, and the first layer or the salt before it.
bool cascade(bytes_view bytes) noexcept {
  constexpr std::size_t layer_bytes = 10;
  std::size_t at = 2;
  if (has(bytes, 0, {2, 0}) && bytes.size() >= 4 && bytes[2] <= std::byte{1}) {
    at = 4 + std::to_integer<std::size_t>(bytes[3]);
  } else if (!has(bytes, 0, {1, 0})) {
    return false;
  }
  return bytes.size() >= at + layer_bytes && bytes[at] >= std::byte{1} &&
         bytes[at] <= std::byte{3} && has(bytes, at + layer_bytes - 1, {1});
}

/// The signature of an index, or a version and a plausible number of logs.
bool clubcard(bytes_view bytes) noexcept {
  constexpr unsigned max_logs = 1000;
  if (has(bytes, 0, {'u', 'p', 'k', 'i', 'i', 'd', 'x'})) return true;
  if (bytes.size() < 10) return false;
  if (has(bytes, 0, {4, 0})) return big_endian<std::uint16_t>(bytes.data() + 2) <= max_logs;
  return has(bytes, 0, {3, 0}) && little_endian<std::uint64_t>(bytes.data() + 2) <= max_logs;
}

bool passwdqc(bytes_view bytes) noexcept {
  return has(bytes, 0, {'P', 'W', 'Q', '0'});
}

struct beginning {
  row format;
  bool (*is)(bytes_view) noexcept;
};

// In order of certainty, the most certain first.
constexpr std::array beginnings = {
    beginning{row::passwdqc, passwdqc},   beginning{row::poppy, poppy},
    beginning{row::squid, squid},         beginning{row::parquet, parquet},
    beginning{row::dcso, dcso},           beginning{row::spark, spark},
    beginning{row::cassandra, cassandra}, beginning{row::cascade, cascade},
    beginning{row::clubcard, clubcard},   beginning{row::guava, guava},
    beginning{row::bip37, bip37},
};

}  // namespace first_bytes
}  // namespace

const dialect* begins_as(std::span<const std::byte> bytes) noexcept {
  for (const auto& each : first_bytes::beginnings) {
    if (each.is(bytes)) return &row_of(each.format);
  }
  return nullptr;
}

}  // namespace bloomset::dialects
