// gzip by zlib, zstd by libzstd, behind the same byte_source.

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <bloomset/plan/units.hpp>
#include <cstring>
#include <limits>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "input.hpp"
#include "system.hpp"

namespace bloomset::cli {
namespace {

// Large enough to amortise the system call, small enough for the second-level cache.
constexpr std::size_t packed_block = std::size_t{128} << 10;

/// A source whose first bytes were read already.
class replayed_source final : public byte_source {
 public:
  replayed_source(std::unique_ptr<byte_source> rest, std::string_view seen)
      : rest_(std::move(rest)), seen_(seen) {}

  result<std::size_t> read(std::span<char> into) override {
    if (at_ == seen_.size()) return rest_->read(into);
    const std::size_t n = seen_.copy(into.data(), into.size(), at_);
    at_ += n;
    return n;
  }
  std::uint64_t consumed() const noexcept override { return rest_->consumed(); }
  bool would_wait() const noexcept override { return at_ == seen_.size() && rest_->would_wait(); }

 private:
  std::unique_ptr<byte_source> rest_;
  std::string seen_;
  std::size_t at_ = 0;
};

/// The part that both formats share: a block of compressed bytes, and a pending failure.
class unpacking_source : public byte_source {
 public:
  unpacking_source(std::unique_ptr<byte_source> packed, std::string_view format)
      : packed_(std::move(packed)), format_(format), block_(packed_block) {}

  result<std::size_t> read(std::span<char> into) final {
    if (failed_) return fail(*failed_);
    std::size_t done = 0;
    auto ok = unpack_some(into, done);
    if (ok) return done;
    if (done == 0) return fail(std::move(ok.error()));
    failed_ = std::move(ok.error());
    return done;
  }
  std::uint64_t consumed() const noexcept final { return packed_->consumed(); }
  bool would_wait() const noexcept final {
    return !ended_ && left_.empty() && packed_->would_wait();
  }

 protected:
  /// Decompresses at least one byte, or to the end. `done` is correct also after a failure.
  virtual result<void> unpack_some(std::span<char> into, std::size_t& done) = 0;

  /// The compressed bytes in the block. Empty only at the end of the file.
  result<std::string_view> packed_bytes() {
    if (left_.empty() && !ended_) {
      const auto got = packed_->read(block_);
      if (!got) return fail(got.error());
      left_ = {block_.data(), *got};
      ended_ = *got == 0;
    }
    return left_;
  }
  void take(std::size_t n) noexcept { left_.remove_prefix(n); }

  failure ends_early() const {
    return fail(errc::corrupt,
                fmt::format("the {} data ends too early, after {} bytes; get the whole file",
                            format_, format_count(consumed())));
  }
  failure damaged(std::string_view why) const {
    return fail(errc::corrupt,
                fmt::format("the {} data is damaged near byte {} ({}); get an undamaged copy",
                            format_, format_count(consumed() - left_.size()), why));
  }

 private:
  std::unique_ptr<byte_source> packed_;
  std::string_view format_;
  std::vector<char> block_;
  std::string_view left_;
  bool ended_ = false;
  std::optional<failure> failed_;
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
        // Tapes and block devices pad with zeros. gzip skips them too.
        if (const auto zeros = std::min(packed->find_first_not_of('\0'), packed->size());
            zeros != 0) {
          take(zeros);
          continue;
        }
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

class zstd_source final : public unpacking_source {
 public:
  explicit zstd_source(std::unique_ptr<byte_source> packed)
      : unpacking_source(std::move(packed), "zstd"), context_(::ZSTD_createDCtx()) {
    if (!context_) throw std::bad_alloc();
  }

 private:
  struct free_context {
    void operator()(ZSTD_DCtx* context) const noexcept { ::ZSTD_freeDCtx(context); }
  };

  result<void> unpack_some(std::span<char> into, std::size_t& done) override {
    while (done == 0) {
      const auto packed = packed_bytes();
      if (!packed) return fail(packed.error());
      if (packed->empty() && at_frame_end_) return {};
      ZSTD_inBuffer from{.src = packed->data(), .size = packed->size(), .pos = 0};
      ZSTD_outBuffer to{.dst = into.data(), .size = into.size(), .pos = 0};
      const std::size_t outcome = ::ZSTD_decompressStream(context_.get(), &to, &from);
      take(from.pos);
      done = to.pos;
      if (::ZSTD_isError(outcome) != 0) return damaged(::ZSTD_getErrorName(outcome));
      at_frame_end_ = outcome == 0;
      // Without input zstd may still hold output that did not fit before.
      if (packed->empty() && done == 0 && !at_frame_end_) return ends_early();
    }
    return {};
  }

  std::unique_ptr<ZSTD_DCtx, free_context> context_;
  bool at_frame_end_ = true;
};

enum class packing : std::uint8_t { none, gzip, zstd, more_bytes };

packing recognise(std::string_view first) noexcept {
  constexpr std::string_view gzip = "\x1f\x8b";           // RFC 1952, 2.3.1
  constexpr std::string_view zstd = "\x28\xb5\x2f\xfd";   // RFC 8878, 3.1.1
  constexpr std::string_view skippable = "\x2a\x4d\x18";  // 3.1.2, after a byte 0x50 to 0x5f
  const auto begins_as = [first](std::string_view magic) {
    return first.substr(0, magic.size()) == magic.substr(0, first.size());
  };
  if (begins_as(gzip)) return first.size() < gzip.size() ? packing::more_bytes : packing::gzip;
  const bool skips =
      !first.empty() && (static_cast<unsigned char>(first[0]) & 0xf0U) == 0x50U &&
      first.substr(1, 3) == skippable.substr(0, std::min<std::size_t>(first.size() - 1, 3));
  if (begins_as(zstd) || skips) return first.size() < 4 ? packing::more_bytes : packing::zstd;
  return packing::none;
}

}  // namespace

bool begins_packed(std::string_view bytes) noexcept {
  const packing found = recognise(bytes);
  return found == packing::gzip || found == packing::zstd;
}

result<std::unique_ptr<byte_source>> unpack(std::unique_ptr<byte_source> packed) {
  std::array<char, 4> first{};
  std::size_t seen = 0;
  packing found = packing::more_bytes;
  while (found == packing::more_bytes && seen < first.size()) {
    const auto got = packed->read(std::span(first).subspan(seen));
    if (!got) return fail(got.error());
    if (*got == 0) break;
    seen += *got;
    found = recognise({first.data(), seen});
  }
  auto whole =
      std::make_unique<replayed_source>(std::move(packed), std::string_view(first.data(), seen));
  if (found == packing::gzip) return std::make_unique<gzip_source>(std::move(whole));
  if (found == packing::zstd) return std::make_unique<zstd_source>(std::move(whole));
  return whole;
}

}  // namespace bloomset::cli
