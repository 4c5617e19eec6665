#include "input/page_codecs.hpp"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string_view>

namespace bloomset::cli {
namespace {

using packed_bytes = std::span<const std::byte>;
using page_bytes = std::span<std::byte>;

/// The output of a codec of literals and copies. Every call checks the bounds of both sides.
class copying {
 public:
  copying(packed_bytes from, page_bytes to) : from_(from), to_(to) {}

  bool at_end() const noexcept { return at_ == from_.size(); }
  bool is_full() const noexcept { return done_ == to_.size(); }
  bool good() const noexcept { return good_; }

  /// The next byte; 0 if there is none.
  std::size_t byte() noexcept {
    if (at_end()) {
      good_ = false;
      return 0;
    }
    return std::to_integer<std::size_t>(from_[at_++]);
  }
  std::size_t little(unsigned bytes) noexcept {
    std::size_t number = 0;
    for (unsigned i = 0; i < bytes; ++i) number |= byte() << (8 * i);
    return number;
  }

  void literal(std::size_t size) noexcept {
    if (size > from_.size() - at_ || size > to_.size() - done_) good_ = false;
    if (!good_ || size == 0) return;
    std::memcpy(to_.data() + done_, from_.data() + at_, size);
    at_ += size;
    done_ += size;
  }

  /// Repeats bytes that were written `distance` before. They may overlap the new ones.
  void copy(std::size_t distance, std::size_t size) noexcept {
    if (distance == 0 || distance > done_ || size > to_.size() - done_) good_ = false;
    if (!good_) return;
    for (std::size_t i = 0; i < size; ++i, ++done_) to_[done_] = to_[done_ - distance];
  }

 private:
  packed_bytes from_;
  page_bytes to_;
  std::size_t at_ = 0;
  std::size_t done_ = 0;
  bool good_ = true;
};

/// A Snappy block: the size as a varint, then literals and copies.
bool unpack_snappy(packed_bytes packed, page_bytes into) {
  copying with(packed, into);
  std::size_t size = 0;
  for (unsigned shift = 0; shift < 35; shift += 7) {
    const std::size_t next = with.byte();
    size |= (next & 0x7fU) << shift;
    if (next < 0x80) break;
  }
  if (size != into.size()) return false;
  while (with.good() && !with.at_end()) {
    const std::size_t tag = with.byte();
    const std::size_t upper = tag >> 2;
    switch (tag & 3U) {
      case 0:  // up to 60 bytes, or a length in the next 1 to 4 bytes
        with.literal((upper < 60 ? upper : with.little(static_cast<unsigned>(upper) - 59)) + 1);
        break;
      case 1: {
        const std::size_t distance = (tag >> 5) << 8 | with.byte();
        with.copy(distance, (upper & 7U) + 4);
        break;
      }
      case 2:
        with.copy(with.little(2), upper + 1);
        break;
      default:
        with.copy(with.little(4), upper + 1);
    }
  }
  return with.good() && with.is_full();
}

/// An LZ4 block: literals and a copy by turns. The last turn has no copy.
bool unpack_lz4(packed_bytes packed, page_bytes into) {
  copying with(packed, into);
  const auto length = [&](std::size_t nibble) {
    std::size_t total = nibble;
    for (std::size_t next = 255; nibble == 15 && next == 255 && with.good(); total += next) {
      next = with.byte();
    }
    return total;
  };
  while (with.good() && !with.at_end()) {
    const std::size_t token = with.byte();
    with.literal(length(token >> 4));
    if (with.at_end()) break;
    const std::size_t distance = with.little(2);
    with.copy(distance, length(token & 15U) + 4);
  }
  return with.good() && with.is_full();
}

/// A page may have several members, and zeros after each, as any gzip file may.
bool unpack_gzip(packed_bytes packed, page_bytes into) {
  constexpr int gzip_or_zlib = 32;
  z_stream stream{};
  if (packed.size() > std::numeric_limits<uInt>::max() ||
      into.size() > std::numeric_limits<uInt>::max() ||
      ::inflateInit2(&stream, MAX_WBITS + gzip_or_zlib) != Z_OK) {
    return false;
  }
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(into.data());
  stream.avail_out = static_cast<uInt>(into.size());
  int end = Z_OK;
  do {
    end = ::inflate(&stream, Z_FINISH);
    if (end != Z_STREAM_END) break;
    for (; stream.avail_in != 0 && *stream.next_in == 0; ++stream.next_in) --stream.avail_in;
  } while (stream.avail_in != 0 && ::inflateReset(&stream) == Z_OK);
  ::inflateEnd(&stream);
  return end == Z_STREAM_END && stream.avail_out == 0;
}

bool unpack_zstd(packed_bytes packed, page_bytes into) {
  return ::ZSTD_decompress(into.data(), into.size(), packed.data(), packed.size()) == into.size();
}

struct codec_row {
  std::int64_t number;
  std::string_view name;
  std::size_t max_ratio;  ///< of unpacked to packed bytes, for any input
  bool (*unpack)(packed_bytes, page_bytes);
};

constexpr std::array codecs = {
    codec_row{1, "Snappy", 22, unpack_snappy},
    codec_row{2, "gzip", 1032, unpack_gzip},
    codec_row{6, "zstd", 1 << 16, unpack_zstd},
    codec_row{7, "LZ4", 255, unpack_lz4},
};

}  // namespace

result<void> unpack_page(std::int64_t codec, packed_bytes packed, std::size_t size,
                         std::vector<std::byte>& into) {
  const auto* const row = std::find_if(codecs.begin(), codecs.end(),
                                       [&](const auto& each) { return each.number == codec; });
  if (row == codecs.end()) {
    const std::string name = codec == 3   ? "LZO"
                             : codec == 4 ? "Brotli"
                             : codec == 5 ? "Hadoop's LZ4"
                                          : fmt::format("number {}", codec);
    return fail(
        errc::unsupported,
        fmt::format("its pages are packed with the codec {}, which is not known here; write "
                    "the file anew with Snappy, gzip, zstd or LZ4_RAW",
                    name));
  }
  // Memory is in proportion to the bytes that are there, whatever the page states.
  constexpr std::size_t slack = 64;
  if (size / row->max_ratio <= packed.size() + slack) {
    into.resize(size);
    if (row->unpack(packed, into)) return {};
  }
  return fail(errc::corrupt,
              fmt::format("a page's {} data is damaged; get the file anew", row->name));
}

}  // namespace bloomset::cli
