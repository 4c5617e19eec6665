// xz by liblzma and bzip2 by libbz2, if the program is built with them.

#include "input/unpacking.hpp"

#if defined(BLOOMSET_LZMA)
#include <lzma.h>
#endif
#if defined(BLOOMSET_BZIP2)
#include <bzlib.h>
#endif

#include <limits>
#include <new>

namespace bloomset::cli {
namespace {

#if defined(BLOOMSET_LZMA)

class xz_source final : public unpacking_source {
 public:
  xz_source(std::unique_ptr<byte_source> packed, std::uint64_t memory)
      : unpacking_source(std::move(packed), "xz"), memory_(memory) {
    if (::lzma_stream_decoder(&stream_, memory, LZMA_CONCATENATED) != LZMA_OK) {
      throw std::bad_alloc();
    }
  }
  xz_source(const xz_source&) = delete;
  xz_source& operator=(const xz_source&) = delete;
  ~xz_source() override { ::lzma_end(&stream_); }

 private:
  result<void> unpack_some(std::span<char> into, std::size_t& done) override {
    while (done == 0 && !at_end_) {
      const auto packed = packed_bytes();
      if (!packed) return fail(packed.error());
      stream_.next_in = reinterpret_cast<const std::uint8_t*>(packed->data());
      stream_.avail_in = packed->size();
      stream_.next_out = reinterpret_cast<std::uint8_t*>(into.data());
      stream_.avail_out = into.size();
      const lzma_ret outcome = ::lzma_code(&stream_, packed->empty() ? LZMA_FINISH : LZMA_RUN);
      done = into.size() - stream_.avail_out;
      take(packed->size() - stream_.avail_in);
      switch (outcome) {
        case LZMA_OK:
          break;
        case LZMA_STREAM_END:
          at_end_ = true;
          break;
        case LZMA_MEM_ERROR:
          throw std::bad_alloc();
        case LZMA_MEMLIMIT_ERROR:
          return too_large("memory", ::lzma_memusage(&stream_), memory_, "xz -dc");
        case LZMA_BUF_ERROR:
          return ends_early();
        case LZMA_OPTIONS_ERROR:
          return fail(
              errc::unsupported,
              "the xz data has options that liblzma does not know; unpack it with 'xz -dc'");
        default:
          return damaged("liblzma cannot read it");
      }
    }
    return {};
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
  std::uint64_t memory_;
  bool at_end_ = false;
};

#endif
#if defined(BLOOMSET_BZIP2)

class bzip2_source final : public unpacking_source {
 public:
  explicit bzip2_source(std::unique_ptr<byte_source> packed)
      : unpacking_source(std::move(packed), "bzip2") {
    begin();
  }
  bzip2_source(const bzip2_source&) = delete;
  bzip2_source& operator=(const bzip2_source&) = delete;
  ~bzip2_source() override { ::BZ2_bzDecompressEnd(&stream_); }

 private:
  void begin() {
    stream_ = {};
    if (::BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) throw std::bad_alloc();
    between_streams_ = false;
  }

  result<void> unpack_some(std::span<char> into, std::size_t& done) override {
    while (done == 0) {
      const auto packed = packed_bytes();
      if (!packed) return fail(packed.error());
      if (between_streams_) {
        if (packed->empty()) return {};
        if (take_zeros()) continue;
        ::BZ2_bzDecompressEnd(&stream_);
        begin();
      }
      constexpr std::size_t max_call = std::numeric_limits<unsigned>::max();
      // libbz2's interface predates const; it does not write to its input.
      stream_.next_in = const_cast<char*>(packed->data());  // NOLINT(*-const-cast)
      stream_.avail_in = static_cast<unsigned>(packed->size());
      stream_.next_out = into.data();
      const auto room = static_cast<unsigned>(std::min(max_call, into.size()));
      stream_.avail_out = room;
      const int outcome = ::BZ2_bzDecompress(&stream_);
      done = room - stream_.avail_out;
      const bool starved = packed->empty() && done == 0;
      take(packed->size() - stream_.avail_in);
      if (outcome == BZ_STREAM_END) {
        between_streams_ = true;
      } else if (outcome == BZ_MEM_ERROR) {
        throw std::bad_alloc();
      } else if (outcome != BZ_OK) {
        return damaged("libbz2 cannot read it");
      } else if (starved) {
        return ends_early();
      }
    }
    return {};
  }

  bz_stream stream_{};
  bool between_streams_ = false;
};

#endif

}  // namespace

source_maker xz_maker() noexcept {
#if defined(BLOOMSET_LZMA)
  return [](std::unique_ptr<byte_source> packed,
            std::uint64_t memory) -> std::unique_ptr<byte_source> {
    return std::make_unique<xz_source>(std::move(packed), memory);
  };
#else
  return nullptr;
#endif
}

source_maker bzip2_maker() noexcept {
#if defined(BLOOMSET_BZIP2)
  return [](std::unique_ptr<byte_source> packed, std::uint64_t) -> std::unique_ptr<byte_source> {
    return std::make_unique<bzip2_source>(std::move(packed));
  };
#else
  return nullptr;
#endif
}

}  // namespace bloomset::cli
