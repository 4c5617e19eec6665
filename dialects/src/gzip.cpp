#include "gzip.hpp"

#include <algorithm>
#include <limits>

namespace bloomset::dialects {
namespace {

constexpr int gzip_only = MAX_WBITS + 16;

failure no_memory() {
  return fail(errc::out_of_memory, "not enough memory to unpack gzip data");
}

}  // namespace

void gunzip_stream::closer::operator()(z_stream* stream) const noexcept {
  ::inflateEnd(stream);  // without effect if it was not begun
  delete stream;
}

result<gunzip_stream> gunzip_stream::open(std::span<const std::byte> packed) {
  gunzip_stream made;
  made.left_ = packed;
  made.stream_.reset(new z_stream{});
  if (::inflateInit2(made.stream_.get(), gzip_only) != Z_OK) return no_memory();
  return made;
}

std::size_t gunzip_stream::fill(std::span<std::byte> into) noexcept {
  constexpr std::size_t max_call = std::numeric_limits<uInt>::max();
  std::size_t done = 0;
  while (done < into.size() && outcome_ == Z_OK) {
    const std::size_t give = std::min(max_call, left_.size());
    const std::size_t room = std::min(max_call, into.size() - done);
    // zlib's interface predates const; inflate does not write to its input.
    stream_->next_in =
        reinterpret_cast<Bytef*>(const_cast<std::byte*>(left_.data()));  // NOLINT(*-const-cast)
    stream_->avail_in = static_cast<uInt>(give);
    stream_->next_out = reinterpret_cast<Bytef*>(into.data() + done);
    stream_->avail_out = static_cast<uInt>(room);
    outcome_ = ::inflate(stream_.get(), Z_NO_FLUSH);
    left_ = left_.subspan(give - stream_->avail_in);
    done += room - stream_->avail_out;
    if (outcome_ == Z_STREAM_END) next_member();
  }
  return done;
}

void gunzip_stream::next_member() noexcept {
  const auto next =
      std::find_if(left_.begin(), left_.end(), [](std::byte b) { return b != std::byte{0}; });
  left_ = left_.subspan(static_cast<std::size_t>(next - left_.begin()));
  if (!left_.empty()) outcome_ = ::inflateReset(stream_.get());
}

result<void> gunzip_stream::ended_well() const {
  if (outcome_ == Z_STREAM_END && left_.empty()) return {};
  if (outcome_ == Z_MEM_ERROR) return no_memory();
  return fail(errc::corrupt,
              "its gzip data is damaged, incomplete or followed by something "
              "else; get the whole file");
}

std::size_t gunzip_front(std::span<const std::byte> packed, std::span<std::byte> into) noexcept {
  auto stream = gunzip_stream::open(packed);
  return stream ? stream->fill(into) : 0;
}

bool is_gzip(std::span<const std::byte> bytes) noexcept {
  return bytes.size() >= 18 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b} &&
         bytes[2] == std::byte{8};
}

result<std::vector<std::byte>> gzip(const std::vector<std::span<const std::byte>>& pieces) {
  z_stream stream{};
  constexpr int memory_level = 8;
  if (::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_only, memory_level,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
    return fail(errc::out_of_memory, "not enough memory to pack the filter");
  }
  constexpr std::size_t max_call = std::size_t{1} << 30;
  std::vector<std::byte> packed;
  std::vector<std::byte> room(std::size_t{256} << 10);
  const auto feed = [&](std::span<const std::byte> bytes, int flush) {
    stream.next_in =
        reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));  // NOLINT(*-const-cast)
    stream.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(room.data());
      stream.avail_out = static_cast<uInt>(room.size());
      (void)::deflate(&stream, flush);
      packed.insert(packed.end(), room.begin(),
                    room.end() - static_cast<std::ptrdiff_t>(stream.avail_out));
    } while (stream.avail_out == 0);
  };
  for (std::span<const std::byte> piece : pieces) {
    while (!piece.empty()) {
      const auto now = piece.first(std::min(max_call, piece.size()));
      feed(now, Z_NO_FLUSH);
      piece = piece.subspan(now.size());
    }
  }
  feed({}, Z_FINISH);
  ::deflateEnd(&stream);
  return packed;
}

}  // namespace bloomset::dialects
