// gzip by zlib, zstd by libzstd, and the choice of a source by first bytes.

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <bloomset/dialects/dialect.hpp>
#include <limits>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "input/packing.hpp"
#include "input/unpacking.hpp"

namespace bloomset::cli {
namespace {

/// A source whose first bytes were read already, and perhaps the failure after them.
class replayed_source final : public byte_source {
 public:
  replayed_source(std::unique_ptr<byte_source> rest, std::string seen,
                  std::optional<failure> failed)
      : rest_(std::move(rest)), seen_(std::move(seen)), failed_(std::move(failed)) {}

  result<std::size_t> read(std::span<char> into) override {
    if (at_ == seen_.size()) {
      if (failed_) return fail(*failed_);
      return rest_->read(into);
    }
    const std::size_t n = seen_.copy(into.data(), into.size(), at_);
    at_ += n;
    return n;
  }
  std::uint64_t consumed() const noexcept override { return rest_->consumed(); }
  bool would_wait() const noexcept override {
    return at_ == seen_.size() && !failed_ && rest_->would_wait();
  }

 private:
  std::unique_ptr<byte_source> rest_;
  std::string seen_;
  std::optional<failure> failed_;
  std::size_t at_ = 0;
};

class gzip_source final : public unpacking_source {
 public:
  explicit gzip_source(std::unique_ptr<byte_source> packed)
      : unpacking_source(std::move(packed), "gzip") {
    constexpr int gzip_only = 16;
    if (::inflateInit2(&stream_, MAX_WBITS + gzip_only) != Z_OK) throw std::bad_alloc();
  }
  gzip_source(const gzip_source&) = delete;
  gzip_source& operator=(const gzip_source&) = delete;
  ~gzip_source() override { ::inflateEnd(&stream_); }

 private:
  result<void> unpack_some(std::span<char> into, std::size_t& done) override {
    while (done == 0) {
      const auto packed = packed_bytes();
      if (!packed) return fail(packed.error());
      if (between_members_) {
        if (packed->empty()) return {};
        if (take_zeros()) continue;  // gzip skips them too
        ::inflateReset(&stream_);
        between_members_ = false;
      }
      constexpr std::size_t max_call = std::numeric_limits<uInt>::max();
      // zlib's interface predates const; inflate does not write to its input.
      stream_.next_in =
          reinterpret_cast<Bytef*>(const_cast<char*>(packed->data()));  // NOLINT(*-const-cast)
      stream_.avail_in = static_cast<uInt>(packed->size());
      stream_.next_out = reinterpret_cast<Bytef*>(into.data());
      const auto room = static_cast<uInt>(std::min(max_call, into.size()));
      stream_.avail_out = room;
      const int outcome = ::inflate(&stream_, Z_NO_FLUSH);
      done = room - stream_.avail_out;
      const std::size_t taken = packed->size() - stream_.avail_in;
      take(taken);
      if (outcome == Z_STREAM_END) {
        between_members_ = true;
      } else if (outcome == Z_MEM_ERROR) {
        throw std::bad_alloc();
      } else if (outcome == Z_BUF_ERROR || (outcome == Z_OK && done == 0)) {
        if (packed->empty()) return ends_early();
      } else if (outcome != Z_OK) {
        return damaged(stream_.msg == nullptr ? "zlib cannot read it" : stream_.msg);
      }
    }
    return {};
  }

  z_stream stream_{};
  bool between_members_ = false;
};

/// The window that a frame needs (RFC 8878, 3.1.1.1), once its header is complete.
std::optional<std::uint64_t> zstd_window(std::string_view frame) noexcept {
  constexpr std::string_view magic = "\x28\xb5\x2f\xfd";
  constexpr std::array<std::size_t, 4> id_sizes = {0, 1, 2, 4};
  constexpr std::size_t descriptor_at = 4;
  if (!frame.starts_with(magic) || frame.size() <= descriptor_at) return std::nullopt;
  const auto byte = [frame](std::size_t at) { return static_cast<unsigned char>(frame[at]); };
  const unsigned descriptor = byte(descriptor_at);
  const bool single_segment = (descriptor & 0x20U) != 0;
  if (!single_segment) {
    if (frame.size() <= descriptor_at + 1) return std::nullopt;
    const unsigned window = byte(descriptor_at + 1);
    const std::uint64_t base = std::uint64_t{1} << (10 + (window >> 3));
    return base + base / 8 * (window & 7U);
  }
  // The window is the content's size.
  const std::size_t size_at = descriptor_at + 1 + id_sizes[descriptor & 3U];
  const std::size_t size_bytes = std::size_t{1} << (descriptor >> 6);
  if (frame.size() < size_at + size_bytes) return std::nullopt;
  std::uint64_t size = size_bytes == 2 ? 256 : 0;
  for (std::size_t i = 0; i < size_bytes; ++i) {
    size += std::uint64_t{byte(size_at + i)} << (8 * i);
  }
  return size;
}

class zstd_source final : public unpacking_source {
 public:
  zstd_source(std::unique_ptr<byte_source> packed, std::uint64_t memory)
      : unpacking_source(std::move(packed), "zstd"),
        context_(::ZSTD_createDCtx()),
        memory_(memory) {
    if (!context_) throw std::bad_alloc();
    // The limit is checked here, where it can be named.
    const auto bounds = ::ZSTD_dParam_getBounds(ZSTD_d_windowLogMax);
    (void)::ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, bounds.upperBound);
  }

 private:
  struct free_context {
    void operator()(ZSTD_DCtx* context) const noexcept { ::ZSTD_freeDCtx(context); }
  };

  /// Fails if the frame that begins with `header_` and the packed bytes needs too much memory. To
  /// be called before zstd, which allocates the window as soon as the header is complete.
  result<void> check_window(std::string_view packed) {
    constexpr std::size_t max_header = 18;
    if (at_frame_end_) header_.clear();
    if (header_.size() >= max_header) return {};
    header_ += packed.substr(0, max_header - header_.size());
    const auto window = zstd_window(header_);
    if (!window || *window <= memory_) return {};
    return too_large("a window", *window, memory_, "zstd -dc --long=31");
  }

  result<void> unpack_some(std::span<char> into, std::size_t& done) override {
    while (done == 0) {
      const auto packed = packed_bytes();
      if (!packed) return fail(packed.error());
      if (packed->empty() && at_frame_end_) return {};
      if (auto ok = check_window(*packed); !ok) return ok;
      ZSTD_inBuffer from{.src = packed->data(), .size = packed->size(), .pos = 0};
      ZSTD_outBuffer to{.dst = into.data(), .size = into.size(), .pos = 0};
      const std::size_t outcome = ::ZSTD_decompressStream(context_.get(), &to, &from);
      take(from.pos);
      done = to.pos;
      if (::ZSTD_getErrorCode(outcome) == ZSTD_error_memory_allocation) throw std::bad_alloc();
      if (::ZSTD_getErrorCode(outcome) == ZSTD_error_frameParameter_windowTooLarge) {
        return fail(
            errc::unsupported,
            "the zstd data needs a larger window than libzstd has; unpack it with 'zstd -dc "
            "--long=31' of a 64-bit system");
      }
      if (::ZSTD_isError(outcome) != 0) return damaged(::ZSTD_getErrorName(outcome));
      at_frame_end_ = outcome == 0;
      // Without input zstd may still hold output that did not fit before.
      if (packed->empty() && done == 0 && !at_frame_end_) return ends_early();
    }
    return {};
  }

  std::unique_ptr<ZSTD_DCtx, free_context> context_;
  std::uint64_t memory_;
  std::string header_;  // the first bytes of the frame
  bool at_frame_end_ = true;
};

source_maker maker_of(codec how) noexcept {
  switch (how) {
    case codec::gzip:
      return
          [](std::unique_ptr<byte_source> packed, std::uint64_t) -> std::unique_ptr<byte_source> {
            return std::make_unique<gzip_source>(std::move(packed));
          };
    case codec::zstd:
      return [](std::unique_ptr<byte_source> packed,
                std::uint64_t memory) -> std::unique_ptr<byte_source> {
        return std::make_unique<zstd_source>(std::move(packed), memory);
      };
    case codec::xz:
      return xz_maker();
    case codec::bzip2:
      return bzip2_maker();
    case codec::none:
      break;
  }
  return nullptr;
}

/// The first bytes of a source, as far as they were needed.
struct beginning {
  std::string bytes;
  bool is_whole = false;
  std::optional<failure> failed;

  /// Reads at least one byte more, up to `size` in all. Returns whether there may be more.
  bool read(byte_source& from, std::size_t size) {
    if (is_whole || failed || bytes.size() >= size) return false;
    const std::size_t before = bytes.size();
    bytes.resize(size);
    const auto got = from.read(std::span(bytes).subspan(before));
    bytes.resize(before + got.value_or(0));
    if (!got) failed = got.error();
    is_whole = got && *got == 0;
    return got && *got != 0;
  }
};

/// Fails if the source is a filter. Waits for more bytes only if the first ones suggest it.
result<void> refuse_filter_in(byte_source& from, beginning& first) {
  constexpr std::size_t enough = std::size_t{1} << 20;
  if (first.bytes.find('\0') == std::string::npos) return {};
  const auto guess = dialects::recognise(std::as_bytes(std::span(first.bytes)));
  if (guess.certain == nullptr && guess.damaged == nullptr) return {};
  while (first.read(from, enough)) {
  }
  return refuse_filter(first.bytes, first.is_whole);
}

}  // namespace

result<std::unique_ptr<byte_source>> unpack(std::unique_ptr<byte_source> source,
                                            std::uint64_t memory) {
  constexpr int max_layers = 4;  // as in keys.tar.gz.xz
  for (int layer = 0;; ++layer) {
    beginning first;
    recognised_packing recognised{nullptr, true};
    while (recognised.needs_more && first.read(*source, packing_bytes)) {
      recognised = recognise_packing(first.bytes);
    }
    if (layer == 0 && first.failed && first.bytes.empty()) return fail(std::move(*first.failed));
    if (recognised.found == nullptr) {
      if (auto ok = refuse_filter_in(*source, first); !ok) return fail(std::move(ok.error()));
    }
    auto whole = std::make_unique<replayed_source>(std::move(source), std::move(first.bytes),
                                                   std::move(first.failed));
    if (recognised.found == nullptr) return whole;
    const source_maker make = maker_of(recognised.found->how);
    if (make == nullptr || layer == max_layers) return unread_packing(*recognised.found);
    source = make(std::move(whole), memory);
  }
}

}  // namespace bloomset::cli
